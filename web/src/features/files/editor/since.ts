/** Which text of a file the person last knew, for as long as the window is: another window may know more. */
import type { FilePlace } from "@/lib/unsaved";

const keyOf = ({ repo, branch, path }: FilePlace) => `forge:since:${repo}:${branch}:${path}`;

export function readSince(place: FilePlace): string | undefined {
  return sessionStorage.getItem(keyOf(place)) ?? undefined;
}

export function writeSince(place: FilePlace, commit: string | undefined): void {
  if (commit === undefined) sessionStorage.removeItem(keyOf(place));
  else sessionStorage.setItem(keyOf(place), commit);
}
