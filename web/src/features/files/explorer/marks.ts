/** What is said about a file beside its name: how it differs from the default branch, and whether an agent has it before it. */
import type { ChangedFile, Shapes } from "@/api";
import { counted } from "@/lib/format";

import { foldersAbove, parentOf } from "./tree";

export type Letter = "A" | "M" | "D";

export interface Changes {
  letters: ReadonlyMap<string, Letter>;
  /** With something changed below. */
  folders: ReadonlySet<string>;
  gone: ReadonlyMap<string, readonly string[]>;
}

export const WORDS: Record<Letter, string> = { A: "added", M: "modified", D: "deleted" };

export function changesOf(files: readonly ChangedFile[]): Changes {
  const letters = new Map<string, Letter>();
  const folders = new Set<string>();
  const gone = new Map<string, string[]>();
  const mark = (path: string, letter: Letter) => {
    letters.set(path, letter);
    for (const folder of foldersAbove(path)) folders.add(folder);
    if (letter === "D") gone.set(parentOf(path), [...(gone.get(parentOf(path)) ?? []), path]);
  };
  for (const file of files) {
    if (file.kind === "renamed" && file.old_path !== null) mark(file.old_path, "D");
    mark(file.path, letterOf(file.kind));
  }
  return { letters, folders, gone };
}

function letterOf(kind: string): Letter {
  if (kind === "deleted") return "D";
  return kind === "modified" || kind === "type_changed" ? "M" : "A";
}

export type ContextState = "not" | "partial" | "full";

export interface InContext {
  state: ContextState;
  tokens: number | null;
  ranges: readonly (readonly [number, number])[];
  /** The agent always has it: the repository's instructions. */
  fixed: boolean;
}

export interface ContextMarks {
  files: ReadonlyMap<string, InContext>;
  /** How many are in context below each folder. */
  below: ReadonlyMap<string, number>;
  /** Of the whole next prompt, before the message; null until it is known. */
  total: number | null;
  model: string | null;
}

export function contextOf(context: Shapes["ContextShape"] | undefined): ContextMarks {
  const files = new Map<string, InContext>();
  const below = new Map<string, number>();
  for (const { path, state, tokens, ranges, why } of context?.files ?? []) {
    files.set(path, { state: state === "partly" ? "partial" : "full", tokens, ranges, fixed: why === "instructions" });
    for (const folder of foldersAbove(path)) below.set(folder, (below.get(folder) ?? 0) + 1);
  }
  return { files, below, total: context?.total_tokens ?? null, model: context?.model ?? null };
}

const NOT: InContext = { state: "not", tokens: null, ranges: [], fixed: false };

export function inContext(marks: ContextMarks, path: string): InContext {
  return marks.files.get(path) ?? NOT;
}

/** For the tooltip: what the mark means, what it costs, and what a click does. */
export function explained({ state, tokens, ranges, fixed }: InContext): string {
  const costs = tokens === null ? "" : ` (${counted(tokens, "token")})`;
  if (fixed) return `The agent always reads this file${costs}.`;
  if (state === "not") return "Not in the agent's context. Click to add the whole file.";
  if (state === "full") return `The whole file is in the agent's context${costs}. Click to take it out.`;
  const lines = ranges.map(([first, last]) => `${first}–${last}`).join(", ");
  return `Partly in the agent's context: lines ${lines}${costs}. Click to add the whole file.`;
}
