/** Open files outlive their editors: switching tabs keeps the text, its history and the place in it. */
import { onFlush, type FilePlace } from "@/lib/unsaved";

import { OpenFile, type Version } from "./open_file";

const files = new Map<string, OpenFile>();
const keyOf = ({ repo, branch, path }: FilePlace) => `${repo}:${branch}:${path}`;

function flush(): void {
  files.forEach((file) => file.flush());
}

onFlush(flush);
if (typeof window !== "undefined") window.addEventListener("pagehide", flush);

export function openFile(place: FilePlace, found: Version): OpenFile {
  const key = keyOf(place);
  const file = files.get(key) ?? new OpenFile(place, found);
  files.set(key, file);
  return file;
}

export function knownFile(place: FilePlace): OpenFile | undefined {
  return files.get(keyOf(place));
}

/** Its tab was closed. What is unsaved stays as a draft. */
export function forgetFile(place: FilePlace): void {
  const file = files.get(keyOf(place));
  file?.flush();
  files.delete(keyOf(place));
}
