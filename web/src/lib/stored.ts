/** State that outlives the page, in localStorage; the other tabs of the same person see changes too. */
import { useCallback, useSyncExternalStore } from "react";

const PREFIX = "forge:";
const listeners = new Map<string, Set<() => void>>();
/** Read once: localStorage answers slowly, and components ask each time they are drawn. */
const known = new Map<string, unknown>();

function tell(key: string): void {
  listeners.get(key)?.forEach((listener) => listener());
}

if (typeof window !== "undefined") {
  window.addEventListener("storage", (event) => {
    if (event.key === null) forgetStored();
    else if (event.key.startsWith(PREFIX)) {
      known.delete(event.key.slice(PREFIX.length));
      tell(event.key.slice(PREFIX.length));
    }
  });
}

/** localStorage was changed by something else: it is read anew. */
export function forgetStored(): void {
  known.clear();
  for (const key of listeners.keys()) tell(key);
}

export function readStored<T>(key: string, initial: T): T {
  if (!known.has(key)) known.set(key, parsed(localStorage.getItem(PREFIX + key)));
  const value = known.get(key);
  return value === undefined ? initial : (value as T);
}

function parsed(text: string | null): unknown {
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // written by another program or version: as good as nothing
  }
}

/** `undefined` forgets it. */
export function writeStored(key: string, value: unknown): void {
  known.set(key, value);
  try {
    if (value === undefined) localStorage.removeItem(PREFIX + key);
    else localStorage.setItem(PREFIX + key, JSON.stringify(value));
  } catch (error) {
    if (!(error instanceof DOMException)) throw error; // full or forbidden: the page continues without remembering
  }
  tell(key);
}

/** Like useState. `initial` must be the same object each time (a constant). */
export function useStored<T>(key: string, initial: T): [T, (value: T | ((before: T) => T)) => void] {
  const subscribe = useCallback(
    (listener: () => void) => {
      const heard = listeners.get(key) ?? new Set();
      listeners.set(key, heard.add(listener));
      return () => heard.delete(listener);
    },
    [key],
  );
  const value = useSyncExternalStore(subscribe, () => readStored(key, initial));
  const set = useCallback(
    (next: T | ((before: T) => T)) => {
      const made = typeof next === "function" ? (next as (before: T) => T)(readStored(key, initial)) : next;
      writeStored(key, made);
    },
    [key, initial],
  );
  return [value, set];
}
