/** What can be done with something that is dropped on a branch, or sent there by menu. */
import type { MergeWish } from "@/api";
import { shortId } from "@/lib/format";

export type Verb = MergeWish["kind"];

/** What is held: a branch, or one commit. */
export interface Source {
  /** The branch's name or the commit's id. */
  rev: string;
  isBranch: boolean;
  /** Of a branch: only this commit and those after it. */
  from?: string;
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
export function wishOf({ verb, source, onto }: Offer): Required<Pick<MergeWish, "kind" | "target" | "sources">> & Pick<MergeWish, "first"> {
  if (verb === "rebase" && source.from !== undefined) return { kind: verb, target: source.rev, sources: [onto], first: source.from };
  return verb === "rebase" ? { kind: verb, target: source.rev, sources: [onto] } : { kind: verb, target: onto, sources: [source.rev] };
}

export function offerOf({ kind, target, sources: [first = ""], first: from }: Pick<MergeWish, "kind" | "target" | "sources" | "first">): Offer {
  if (kind === "rebase") return { verb: kind, source: { rev: target, isBranch: true, ...(from != null && { from }) }, onto: first };
  return { verb: kind, source: { rev: first, isBranch: !isCommitId(first) }, onto: target };
}

export function isCommitId(rev: string): boolean {
  return /^[0-9a-f]{40}$|^[0-9a-f]{64}$/.test(rev);
}

export function revName(rev: string): string {
  return isCommitId(rev) ? shortId(rev) : rev;
}

/** What is held, in words: "ai/cache", "ai/cache from 1a2b3c4", "up to 1a2b3c4". */
export function sourceName(verb: Verb, source: Source): string {
  if (source.from !== undefined && verb === "rebase") return `${source.rev} from ${shortId(source.from)}`;
  return verb === "merge" && !source.isBranch ? `up to ${revName(source.rev)}` : revName(source.rev);
}

/** "Merge ai/cache into main". */
export function sentenceOf({ verb, source, onto }: Offer): string {
  return `${VERB_WORDS[verb]} ${sourceName(verb, source)} ${verb === "merge" ? "into" : "onto"} ${onto}`;
}

/** A verb as a choice beside others: what is merged with a commit is all that leads to it. */
export function choiceOf(verb: Verb, source: Source): string {
  return verb === "merge" && !source.isBranch ? "Merge up to it" : VERB_WORDS[verb];
}

/** "Merged ai/cache into main". */
export function doneSentence({ verb, source, onto }: Offer): string {
  const done: Record<Verb, string> = { merge: "Merged", rebase: "Rebased", "cherry-pick": "Copied" };
  return `${done[verb]} ${sourceName(verb, source)} ${verb === "merge" ? "into" : "onto"} ${onto}`;
}

export type Light = "good" | "attention" | "none";

/** Green: it goes through. Yellow: somebody has to decide. */
export function lightOf(outcome: string): Light {
  if (outcome === "clean" || outcome === "fast-forward") return "good";
  return outcome === "conflicts" || outcome === "unrelated" || outcome === "damaged" ? "attention" : "none";
}

/** The branch whose chain a commit is on, by first parents from its tip; the one with the nearest tip. */
export function branchThrough(rows: readonly { id: string; parents: readonly string[]; refs: readonly string[] }[], commit: string): string | undefined {
  const parent = new Map(rows.map((row) => [row.id, row.parents[0]]));
  let best: { branch: string; steps: number } | undefined;
  for (const row of rows) {
    const branch = row.refs.find((ref) => ref.startsWith("refs/heads/"));
    if (branch === undefined) continue;
    let steps = 0;
    for (let at: string | undefined = row.id; at !== undefined && steps < (best?.steps ?? Infinity); at = parent.get(at)) {
      if (at === commit) best = { branch: branch.slice("refs/heads/".length), steps };
      steps += 1;
    }
  }
  return best?.branch;
}
