/** State that outlives the page, in localStorage; the other tabs of the same person see changes too. */
import { useCallback, useSyncExternalStore } from "react";

const PREFIX = "forge:";
const listeners = new Map<string, Set<() => void>>();
const parsed = new Map<string, { text: string; value: unknown }>();

function tell(key: string): void {
  listeners.get(key)?.forEach((listener) => listener());
}

if (typeof window !== "undefined") {
  window.addEventListener("storage", (event) => {
    if (event.key?.startsWith(PREFIX)) tell(event.key.slice(PREFIX.length));
  });
}

export function readStored<T>(key: string, initial: T): T {
  const text = localStorage.getItem(PREFIX + key);
  if (text === null) return initial;
  const known = parsed.get(key);
  if (known?.text === text) return known.value as T;
  try {
    const value = JSON.parse(text) as T;
    parsed.set(key, { text, value });
    return value;
  } catch {
    return initial; // written by another program or version: as good as nothing
  }
}

/** `undefined` forgets it. */
export function writeStored(key: string, value: unknown): void {
  try {
    if (value === undefined) localStorage.removeItem(PREFIX + key);
    else localStorage.setItem(PREFIX + key, JSON.stringify(value));
  } catch (error) {
    if (!(error instanceof DOMException)) throw error; // full or forbidden: the page goes on without remembering
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
