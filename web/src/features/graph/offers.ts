/** What can be done with something that is dropped on a branch, or sent there by menu. */
import type { MergeWish } from "@/api";
import { shortId } from "@/lib/format";

export type Verb = MergeWish["kind"];

/** What is held: a branch, or one commit. */
export interface Source {
  /** The branch's name or the commit's id. */
  rev: string;
  isBranch: boolean;
}

/** Something and the branch that it meets. */
export interface Offer {
  verb: Verb;
  source: Source;
  onto: string;
}

export const VERBS: readonly Verb[] = ["merge", "rebase", "cherry-pick"];
export const VERB_WORDS: Record<Verb, string> = { merge: "Merge", rebase: "Rebase", "cherry-pick": "Cherry-pick" };

export function isPossible(verb: Verb, source: Source): boolean {
  return verb !== "rebase" || source.isBranch;
}

/** Without keys held down, branches are merged and commits are copied. */
export function verbFor(source: Source, held: { shiftKey: boolean; altKey: boolean }): Verb {
  if (source.isBranch) return held.shiftKey ? "rebase" : held.altKey ? "cherry-pick" : "merge";
  return held.shiftKey ? "merge" : "cherry-pick";
}

/** A rebase moves what is held; the others move the branch that it is dropped on. */
export function wishOf({ verb, source, onto }: Offer): Required<Pick<MergeWish, "kind" | "target" | "sources">> {
  return verb === "rebase" ? { kind: verb, target: source.rev, sources: [onto] } : { kind: verb, target: onto, sources: [source.rev] };
}

export function offerOf({ kind, target, sources: [first = ""] }: Pick<MergeWish, "kind" | "target" | "sources">): Offer {
  if (kind === "rebase") return { verb: kind, source: { rev: target, isBranch: true }, onto: first };
  return { verb: kind, source: { rev: first, isBranch: !isCommitId(first) }, onto: target };
}

export function isCommitId(rev: string): boolean {
  return /^[0-9a-f]{40}$|^[0-9a-f]{64}$/.test(rev);
}

export function revName(rev: string): string {
  return isCommitId(rev) ? shortId(rev) : rev;
}

/** "Merge ai/cache into main". */
export function sentenceOf({ verb, source, onto }: Offer): string {
  return `${VERB_WORDS[verb]} ${revName(source.rev)} ${verb === "merge" ? "into" : "onto"} ${onto}`;
}

/** "Merged ai/cache into main". */
export function doneSentence({ verb, source, onto }: Offer): string {
  const done: Record<Verb, string> = { merge: "Merged", rebase: "Rebased", "cherry-pick": "Copied" };
  return `${done[verb]} ${revName(source.rev)} ${verb === "merge" ? "into" : "onto"} ${onto}`;
}

export type Light = "good" | "attention" | "none";

/** Green: it goes through. Yellow: somebody has to decide. */
export function lightOf(outcome: string): Light {
  if (outcome === "clean" || outcome === "fast-forward") return "good";
  return outcome === "conflicts" || outcome === "unrelated" ? "attention" : "none";
}
