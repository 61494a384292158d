/**
 * Text that was typed into files and is not saved yet. It is kept in localStorage, so it survives a reload, and whoever
 * starts a turn asks first what shall become of it: `if ((await askBeforeTurn({ repo, branch })) === "go") …`.
 */
import { useSyncExternalStore } from "react";

import { DraftStore, type Draft } from "./draft_store";

export interface FilePlace {
  repo: string;
  branch: string;
  path: string;
}

export type { Draft } from "./draft_store";

export interface BranchOf {
  repo: string;
  branch: string;
}

/** The question that is open now; `answer` closes it. */
export interface Asking {
  why: "turn" | "close";
  files: readonly FilePlace[];
  answer: (how: "go" | "cancel") => void;
}

const drafts = new DraftStore("forge:unsaved:");
const flushers = new Set<() => void>();
const askers = new Set<() => void>();
let asking: Asking | null = null;
let listed: { keys: readonly string[]; files: readonly FilePlace[] } = { keys: [], files: [] };

// Names of branches have no colon in them; paths may.
const keyOf = ({ repo, branch, path }: FilePlace) => `${repo}:${branch}:${path}`;

function placeOf(key: string): FilePlace {
  const [repo = "", branch = "", ...path] = key.split(":");
  return { repo, branch, path: path.join(":") };
}

export function readDraft(file: FilePlace): Draft | undefined {
  return drafts.get(keyOf(file));
}

/** `undefined` forgets it: it was saved or discarded. */
export function writeDraft(file: FilePlace, draft: Draft | undefined): void {
  drafts.set(keyOf(file), draft);
}

/** Editors write what was typed a moment later; this is called when it must be there now. */
export function onFlush(flush: () => void): () => void {
  flushers.add(flush);
  return () => flushers.delete(flush);
}

export function flushDrafts(): void {
  flushers.forEach((flush) => flush());
}

/** Every file with unsaved text; the same array until that changes. */
export function allUnsaved(): readonly FilePlace[] {
  const keys = drafts.keys();
  if (keys !== listed.keys) listed = { keys, files: keys.map(placeOf) };
  return listed.files;
}

export function unsavedOn({ repo, branch }: BranchOf): FilePlace[] {
  return allUnsaved().filter((file) => file.repo === repo && file.branch === branch);
}

export function useUnsaved(): readonly FilePlace[] {
  return useSyncExternalStore(drafts.subscribe, allUnsaved);
}

/** "go" at once where nothing is unsaved; otherwise the person decides: save or discard ("go"), or "cancel". */
export function askBeforeTurn(where?: BranchOf): Promise<"go" | "cancel"> {
  flushDrafts();
  return asked("turn", where === undefined ? allUnsaved() : unsavedOn(where));
}

/** The same before a file is closed. */
export function askToClose(file: FilePlace): Promise<"go" | "cancel"> {
  flushDrafts();
  return asked("close", readDraft(file) === undefined ? [] : [file]);
}

function asked(why: Asking["why"], files: readonly FilePlace[]): Promise<"go" | "cancel"> {
  if (files.length === 0) return Promise.resolve("go");
  asking?.answer("cancel");
  return new Promise((resolve) => {
    setAsking({
      why,
      files,
      answer: (how) => {
        setAsking(null);
        resolve(how);
      },
    });
  });
}

function setAsking(next: Asking | null): void {
  asking = next;
  askers.forEach((listener) => listener());
}

function onAsking(listener: () => void): () => void {
  askers.add(listener);
  return () => askers.delete(listener);
}

/** For the one dialog that puts the question. */
export function useAsking(): Asking | null {
  return useSyncExternalStore(onAsking, () => asking);
}
