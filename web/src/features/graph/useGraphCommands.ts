/** All that can be done in the graph, for the palette and the keyboard. */
import { useCommand } from "@/lib/commands";
import { toast } from "@/ui";

import type { Source, Verb } from "./offers";
import type { Asking } from "./useAsking";

export interface GraphCommandParts {
  /** The chosen commit, and the branch whose tip it is. */
  selected: string | null;
  branch: string | undefined;
  /** The branch whose chain the commit is on, where it is no tip. */
  through: string | undefined;
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
  const { selected, branch, through, ask } = parts;
  const chosen = selected !== null;
  const commit: Source = { rev: selected ?? "", isBranch: false };
  const held: Source = branch === undefined ? commit : { rev: branch, isBranch: true };
  const pick = (verb: Verb, source: Source) => () => ask({ what: "pick", verb, source });
  useCommand({ id: "graph.merge", title: "Merge into…", group, keys: "m", run: pick("merge", held), enabled: chosen, words: "branch commit" });
  const chain: Source | null = branch !== undefined ? held : through === undefined ? null : { rev: through, isBranch: true, from: commit.rev };
  const rebase = () => {
    if (chain !== null) ask({ what: "pick", verb: "rebase", source: chain });
    else toast({ text: "No branch shown here leads to this commit, so there is nothing to rebase. Make a branch here first (b).", meaning: "attention" });
  };
  useCommand({ id: "graph.rebase", title: chain?.from === undefined ? "Rebase onto…" : "Rebase from here onto…", group, keys: "r", run: rebase, enabled: chosen });
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
