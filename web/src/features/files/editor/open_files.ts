/** Open files outlive their editors: switching tabs keeps the text, its history and the place in it. */
import { onFlush, readDraft, unsavedOn, writeDraft, type FilePlace } from "@/lib/unsaved";

import { movedPath } from "../explorer/tree";
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
  file?.seen();
  files.delete(keyOf(place));
}

/** A file or folder has another path: what was typed and not saved is there now. Its content, and so its etag, is the same. */
export function moveDrafts({ repo, branch, path }: FilePlace, to: string): void {
  flush();
  for (const place of unsavedOn({ repo, branch })) {
    const target = movedPath(place.path, path, to);
    if (target === undefined) continue;
    writeDraft({ repo, branch, path: target }, readDraft(place));
    files.delete(keyOf(place));
    writeDraft(place, undefined);
  }
}
