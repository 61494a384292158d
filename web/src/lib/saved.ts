/** What was saved last, for the status bar. */
import { useSyncExternalStore } from "react";

export interface Saved {
  repo: string;
  branch: string;
  commit: string;
}

let latest: Saved | null = null;
const listeners = new Set<() => void>();

export function announceSaved(saved: Saved): void {
  latest = { ...saved };
  listeners.forEach((listener) => listener());
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useLatestSaved(): Saved | null {
  return useSyncExternalStore(subscribe, () => latest);
}
