/**
 * What is in a project's composer and is not sent yet. Each tab has its own, so that two tabs never overwrite each
 * other's words; it outlives a reload, and the last one written outlives the tab.
 */
import { useCallback, useSyncExternalStore } from "react";

import { useSayToProject } from "@/api";
import { readStored, writeStored } from "@/lib/stored";

export interface Unsent {
  text: string;
  setText: (text: string) => void;
  /** Words typed while `text` was on its way stay. */
  dropSent: (sent: string) => void;
}

const texts = new Map<string, string>();
const listeners = new Set<() => void>();

function read(key: string): string {
  const known = texts.get(key);
  if (known !== undefined) return known;
  const found = sessionStorage.getItem(key) ?? readStored(key, "");
  texts.set(key, found);
  return found;
}

function write(key: string, text: string): void {
  texts.set(key, text);
  writeStored(key, text);
  try {
    sessionStorage.setItem(key, text);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error; // full or forbidden: a reload shows the last one of any tab
  }
  listeners.forEach((listener) => listener());
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function draftKey(project: string): string {
  return `draft:project:${project}`;
}

export function useUnsent(project: string): Unsent {
  const key = draftKey(project);
  const text = useSyncExternalStore(subscribe, () => read(key));
  const setText = useCallback((next: string) => write(key, next), [key]);
  const dropSent = useCallback(
    (sent: string) => {
      const now = read(key);
      if (now.startsWith(sent)) write(key, now.slice(sent.length).trimStart());
    },
    [key],
  );
  return { text, setText, dropSent };
}

/** Sends it, where there is something; fails as sending a message fails, and then keeps it. */
export function useSendUnsent(project: string): () => Promise<void> {
  const { text, dropSent } = useUnsent(project);
  const say = useSayToProject(project);
  return async () => {
    if (text.trim() === "") return;
    // Whoever distils means the problem, not the background.
    await say.mutateAsync({ text: text.trim(), about: "problem" });
    dropSent(text);
  };
}
