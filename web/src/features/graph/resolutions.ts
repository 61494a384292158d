/** What somebody decided about files in conflict, as the server takes it. */
import type { Merge, Shapes } from "@/api";

export type Resolution = Shapes["Resolution"];
export type Conflict = Merge["conflicts"][number];

/** Undefined: not decided yet. Null: the file goes. */
export type Decision = string | null | undefined;

/** A chain of commits stops at one of them; what is decided belongs to that one. */
export function resolutionsOf(view: Merge, decisions: Readonly<Record<string, Decision>>): Resolution[] {
  return view.conflicts.flatMap(({ path }) => {
    const text = decisions[path];
    return text === undefined ? [] : [{ path, text, commit: view.stopped_at }];
  });
}

export function openCount(view: Merge, decisions: Readonly<Record<string, Decision>>): number {
  return view.conflicts.filter(({ path }) => decisions[path] === undefined).length;
}

/** A side's own text, where the server tells it. */
export function sideText(side: Conflict["ours"]): string | undefined {
  return side !== null && "text" in side && typeof side.text === "string" ? side.text : undefined;
}
