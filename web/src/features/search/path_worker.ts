/** Reads all paths and searches them, away from the page's own thread. */
import { streamed } from "@/api/client";

import { PathIndex, type FoundPath } from "./path_index";

export type Ask = { kind: "read"; address: string } | { kind: "find"; id: number; query: string; recent: readonly string[]; limit: number };
export type Told = { kind: "read"; size: number; done: boolean } | { kind: "found"; id: number; query: string; found: FoundPath[]; whole: boolean; took: number } | { kind: "failed"; message: string };

let index = new PathIndex();
let whole = false;
const tell = (told: Told) => self.postMessage(told);

async function read(address: string): Promise<void> {
  const fresh = new PathIndex();
  whole = false;
  // The old paths answer until the new ones are all there; the first time, what has come already answers.
  if (index.size === 0) index = fresh;
  try {
    await streamed<{ path: string }>(address, (items) => {
      fresh.add(items.map((item) => item.path));
      tell({ kind: "read", size: fresh.size, done: false });
    });
    index = fresh;
    whole = true;
    tell({ kind: "read", size: fresh.size, done: true });
  } catch (error) {
    tell({ kind: "failed", message: error instanceof Error ? error.message : String(error) });
  }
}

self.onmessage = ({ data }: MessageEvent<Ask>) => {
  if (data.kind === "read") {
    void read(data.address);
    return;
  }
  const begun = performance.now();
  const found = index.find(data.query, new Map(data.recent.map((path, i) => [path, i])), data.limit);
  tell({ kind: "found", id: data.id, query: data.query, found, whole, took: performance.now() - begun });
};
