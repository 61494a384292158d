/** The file whose history is shown: opened from the tree's menu, and from the view of the file. */
import { useSyncExternalStore } from "react";

let open: string | null = null;
const listeners = new Set<() => void>();

/** Null closes it. */
export function openHistory(path: string | null): void {
  open = path;
  listeners.forEach((listener) => listener());
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useHistoryOpen(): string | null {
  return useSyncExternalStore(subscribe, () => open);
}
