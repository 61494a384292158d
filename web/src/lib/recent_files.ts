/** Which files of a repository were opened last, newest first: quick open lists them before all others. */
import { readStored, writeStored } from "./stored";

const KEPT = 50;
const NONE: string[] = [];
const keyOf = (repo: string) => `recent-files:${repo}`;

export function recentFiles(repo: string): readonly string[] {
  return readStored(keyOf(repo), NONE);
}

export function rememberFile(repo: string, path: string): void {
  writeStored(keyOf(repo), [path, ...recentFiles(repo).filter((each) => each !== path)].slice(0, KEPT));
}
