/** Files that are open on a branch, in the order of their tabs. One of them at most is a preview: the next file takes its place. */
import { readStored, useStored, writeStored } from "@/lib/stored";

import { movedPath } from "./explorer/tree";

export interface OpenTab {
  path: string;
  preview: boolean;
}

const NONE: OpenTab[] = [];
const keyOf = (repo: string, branch: string) => `open-files:${repo}:${branch}`;

/** The tab is there afterwards, kept or as the preview. */
export function opened(tabs: readonly OpenTab[], path: string, preview: boolean): OpenTab[] {
  const there = tabs.find((tab) => tab.path === path);
  if (there !== undefined) {
    return there.preview && !preview ? tabs.map((tab) => (tab === there ? { path, preview: false } : tab)) : (tabs as OpenTab[]);
  }
  const made = { path, preview };
  const at = preview ? tabs.findIndex((tab) => tab.preview) : -1;
  return at < 0 ? [...tabs, made] : tabs.map((tab, i) => (i === at ? made : tab));
}

/** Which is in front when `path` is closed: the one after it, else the one before, else none. */
export function nextInFront(tabs: readonly OpenTab[], path: string): string | undefined {
  const at = tabs.findIndex((tab) => tab.path === path);
  return (tabs[at + 1] ?? tabs[at - 1])?.path;
}

function change(repo: string, branch: string, how: (tabs: OpenTab[]) => OpenTab[]): void {
  const before = readStored(keyOf(repo, branch), NONE);
  const after = how(before);
  if (after !== before) writeStored(keyOf(repo, branch), after);
}

export function useTabs(repo: string, branch: string): readonly OpenTab[] {
  return useStored(keyOf(repo, branch), NONE)[0];
}

export function showTab(repo: string, branch: string, path: string): void {
  change(repo, branch, (tabs) => opened(tabs, path, true));
}

export function pinTab(repo: string, branch: string, path: string): void {
  change(repo, branch, (tabs) => opened(tabs, path, false));
}

/** Of a file, or of everything in a folder. */
export function closeTab(repo: string, branch: string, path: string): void {
  const goes = (tab: OpenTab) => movedPath(tab.path, path, "") !== undefined;
  change(repo, branch, (tabs) => (tabs.some(goes) ? tabs.filter((tab) => !goes(tab)) : tabs));
}

/** Of a file, or of everything in a folder. */
export function renameTab(repo: string, branch: string, path: string, to: string): void {
  change(repo, branch, (tabs) => tabs.map((tab) => ({ ...tab, path: movedPath(tab.path, path, to) ?? tab.path })));
}
