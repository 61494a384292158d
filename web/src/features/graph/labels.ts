/** Names of refs as people see them. */

export type LabelKind = "head" | "branch" | "tag" | "remote" | "kept";

export interface Label {
  kind: LabelKind;
  name: string;
}

const PREFIXES: [string, LabelKind][] = [
  ["refs/heads/", "branch"],
  ["refs/tags/", "tag"],
  ["refs/remotes/", "remote"],
  ["refs/forge/kept/", "kept"],
];

/** In the order in which they are shown; refs that Forge keeps for other purposes are left out. */
export function labelsOf(refs: readonly string[]): Label[] {
  const found = refs.flatMap((ref): Label[] => {
    if (ref === "HEAD") return [{ kind: "head", name: "HEAD" }];
    const known = PREFIXES.find(([prefix]) => ref.startsWith(prefix));
    return known === undefined ? [] : [{ kind: known[1], name: ref.slice(known[0].length) }];
  });
  const order: LabelKind[] = ["branch", "tag", "remote", "kept", "head"];
  return found.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));
}

export function branchesAt(refs: readonly string[]): string[] {
  return labelsOf(refs)
    .filter((label) => label.kind === "branch")
    .map((label) => label.name);
}

/** Commits of turns are signed "Forge (model)". */
export function isByAgent(author: string): boolean {
  return author.startsWith("Forge (");
}

/** "ai/cache · anthropic:claude" reads better than the signature. */
export function authorName(author: string): string {
  return isByAgent(author) ? author.slice("Forge (".length, -1) : author;
}
