/** All that can be done in the graph, for the palette and the keyboard. */
import { useCommand } from "@/lib/commands";

import type { Source, Verb } from "./offers";
import type { Asking } from "./useAsking";

export interface GraphCommandParts {
  /** The chosen commit, and the branch whose tip it is. */
  selected: string | null;
  branch: string | undefined;
  ask: Asking["ask"];
  undo: () => void;
  zoomBy: (step: number) => void;
  abandoned: boolean;
  setAbandoned: (on: boolean) => void;
  showOperations: () => void;
  focusFilter: () => void;
}

const group = "Graph";

export function useGraphCommands(parts: GraphCommandParts): void {
  const { selected, branch, ask } = parts;
  const chosen = selected !== null;
  const commit: Source = { rev: selected ?? "", isBranch: false };
  const held: Source = branch === undefined ? commit : { rev: branch, isBranch: true };
  const pick = (verb: Verb, source: Source) => () => ask({ what: "pick", verb, source });
  useCommand({ id: "graph.merge", title: "Merge into…", group, keys: "m", run: pick("merge", held), enabled: chosen, words: "branch commit" });
  useCommand({ id: "graph.rebase", title: "Rebase onto…", group, keys: "r", run: pick("rebase", held), enabled: chosen && branch !== undefined });
  useCommand({ id: "graph.cherry-pick", title: "Cherry-pick onto…", group, keys: "c", run: pick("cherry-pick", commit), enabled: chosen, words: "copy" });
  useCommand({
    id: "graph.branch",
    title: "Branch from here",
    group,
    keys: "b",
    run: () => ask({ what: "branch", start: selected ?? "" }),
    enabled: chosen,
  });
  useCommand({ id: "graph.undo", title: "Undo the last operation", group, run: parts.undo, words: "take back" });
  useCommand({ id: "graph.operations", title: "Show operations", group, run: parts.showOperations, words: "history undo" });
  useCommand({ id: "graph.zoom-in", title: "Zoom in", group, keys: "=", run: () => parts.zoomBy(1) });
  useCommand({ id: "graph.zoom-out", title: "Zoom out", group, keys: "-", run: () => parts.zoomBy(-1) });
  useCommand({ id: "graph.filter", title: "Filter commits", group, keys: "/", run: parts.focusFilter });
  useCommand({
    id: "graph.abandoned",
    title: parts.abandoned ? "Hide abandoned commits" : "Show abandoned commits",
    group,
    run: () => parts.setAbandoned(!parts.abandoned),
  });
}
