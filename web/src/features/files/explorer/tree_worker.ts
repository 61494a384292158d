/** Reads all files of a branch and puts them into their folders, away from the page's own thread. */
import { streamed } from "@/api/client";

import { FolderBuilder, type PackedFolder } from "./packed_folders";

export type TreeTold = { kind: "folders"; folders: PackedFolder[] } | { kind: "done" } | { kind: "failed"; message: string };

/** What the page takes in at once: about two milliseconds of work there. */
const ENTRIES = 2_000;
const tell = (told: TreeTold) => self.postMessage(told);

async function read(address: string): Promise<void> {
  const builder = new FolderBuilder();
  await streamed<{ path: string; mode: string }>(address, (items) => items.forEach(({ path, mode }) => builder.add(path, mode)));
  let bunch: PackedFolder[] = [];
  let entries = 0;
  for (const folder of builder.folders()) {
    bunch.push(folder);
    entries += folder.names.length;
    if (entries < ENTRIES) continue;
    tell({ kind: "folders", folders: bunch });
    [bunch, entries] = [[], 0];
  }
  tell({ kind: "folders", folders: bunch });
}

self.onmessage = ({ data }: MessageEvent<string>) => {
  read(data).then(
    () => tell({ kind: "done" }),
    (error: unknown) => tell({ kind: "failed", message: error instanceof Error ? error.message : String(error) }),
  );
};
