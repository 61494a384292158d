import { useNavigate } from "@tanstack/react-router";
import { useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";

import { useBranches, usePreview } from "@/api";
import { shortId } from "@/lib/format";
import { branchPlace, commitPlace } from "@/lib/places";
import { useSteady } from "@/lib/steady";
import { useStored } from "@/lib/stored";
import { ContextMenu, copyText, EmptyState, ErrorState, Panel, PanelEdge, Panels, Skeleton, type MenuEntry } from "@/ui";

import { BranchList } from "./BranchList";
import { CommitDetails } from "./CommitDetails";
import { CommitList } from "./CommitList";
import { Dialogs } from "./Dialogs";
import { GraphToolbar } from "./GraphToolbar";
import "./graph.css";
import { HeldChip } from "./HeldChip";
import { branchesAt } from "./labels";
import { filtered, isFiltering, NO_FILTER } from "./lanes";
import { branchEntries, commitEntries, type MenuParts } from "./menus";
import { branchThrough, lightOf, wishOf } from "./offers";
import { OperationList } from "./OperationList";
import { useAsking } from "./useAsking";
import { useGraphCommands } from "./useGraphCommands";
import { useGraphRows } from "./useGraphRows";
import { useHold } from "./useHold";
import { useUndoing } from "./useUndoing";
import { useNarrow } from "./useNarrow";
import { clampZoom, USUAL_ZOOM, zoomAt } from "./zoom";

export interface RepositoryViewProps {
  repo: string;
}

/** The whole repository: branches, the graph of commits, and beside it the one that is chosen. */
export function RepositoryView({ repo }: RepositoryViewProps) {
  const navigate = useNavigate();
  const [zoom, setZoom] = useStored("graph:zoom", USUAL_ZOOM);
  // Drawn in pieces, between what the person does.
  const shownZoom = useDeferredValue(zoom);
  const [abandoned, setAbandoned] = useStored("graph:abandoned", false);
  const [whole, narrow] = useNarrow(900);
  const [branchesWanted, setBranchesShown] = useStored<boolean | null>("graph:branches", null);
  const branchesShown = branchesWanted ?? !narrow;
  const [beside, setBeside] = useState<"commit" | "operations" | null>(null);
  const [selected, setSelected] = useState<string | null>(null);
  const [reveal, setReveal] = useState<{ commit: string; at: number } | null>(null);
  const [filter, setFilter] = useState(NO_FILTER);
  const search = useRef<HTMLInputElement>(null);
  const asking = useAsking();
  const undo = useUndoing(repo);

  const branches = useBranches(repo);
  const known = useMemo(() => branches.data ?? [], [branches.data]);
  const aiBranches = useMemo(() => new Set(known.filter((each) => each.ai).map((each) => each.name)), [known]);
  const graph = useGraphRows(repo, abandoned);
  const { need } = graph;
  const narrowed = useDeferredValue(filter);
  const rows = useMemo(() => filtered(graph.rows, narrowed), [graph.rows, narrowed]);
  const everybody = useMemo(() => [...new Set(graph.rows.map((row) => row.author))].sort(), [graph.rows]);
  // The same list as long as the same people are in it.
  const together = everybody.join("\n");
  const authors = useMemo(() => (together === "" ? [] : together.split("\n")), [together]);
  const names = useMemo(() => known.map((each) => each.name), [known]);
  // What fits may lie further down: more is read until the screen is full.
  const looking = isFiltering(narrowed) && graph.more && rows.length < 100;
  useEffect(() => {
    if (looking) need(graph.rows.length + 1);
  }, [looking, need, graph.rows.length]);

  const { held, start, onPointerDown } = useHold((offer) => asking.ask({ what: "merge", offer }));
  const offer = held?.over == null ? null : { verb: held.verb, source: held.source, onto: held.over };
  const preview = usePreview(repo, offer === null ? { kind: "merge", target: "", sources: [] } : wishOf(offer), offer !== null);
  const light = preview.data !== undefined ? lightOf(preview.data.outcome) : preview.error ? ("attention" as const) : ("checking" as const);
  const onto = offer?.onto;
  const over = useMemo(() => (onto === undefined ? null : { branch: onto, light }), [onto, light]);

  const show = (commit: string) => {
    setSelected(commit);
    setBeside("commit");
  };
  const go = (commit: string) => {
    show(commit);
    setReveal({ commit, at: Date.now() });
  };
  const parts: MenuParts = useSteady<MenuParts>({
    ask: asking.ask,
    openBranch: (branch) => void navigate(branchPlace({ repo, branch })),
    openCommit: (commit) => void navigate(commitPlace(repo, commit)),
    openFiles: (commit) => void navigate(branchPlace({ repo, branch: known.find((each) => each.is_default)?.name ?? known[0]?.name ?? "", at: commit })),
    copy: (commit) => void copyText(commit, `Copied ${shortId(commit)}`),
  });
  const chosen = useMemo(() => (selected === null ? undefined : graph.rows.find((row) => row.id === selected)), [graph.rows, selected]);
  const here = chosen === undefined ? [] : branchesAt(chosen.refs);
  const through = useMemo(
    () => (selected === null || here.length > 0 ? undefined : branchThrough(graph.rows, selected)),
    [graph.rows, selected, here.length],
  );
  const entriesFor = useCallback((branch: string) => branchEntries(branch, known.some((each) => each.name === branch && each.is_default), parts), [known, parts]);
  const entries: MenuEntry[] =
    selected === null ? [] : [...commitEntries(selected, parts, through), ...here.slice(0, 3).flatMap((branch) => [null, ...entriesFor(branch)])];
  const zoomBy = (step: number) => setZoom((now) => clampZoom(now + step));
  useGraphCommands({
    selected,
    branch: here[0],
    through,
    ask: asking.ask,
    undo: () => undo(),
    zoomBy,
    abandoned,
    setAbandoned,
    showOperations: () => setBeside("operations"),
    focusFilter: () => search.current?.focus(),
  });

  // The rows grow while one scrolls; what stands around them is not drawn anew for that.
  const steady = useSteady({
    zoomBy,
    go,
    undo: () => undo(),
    setBranchesShown,
    showOperations: (on: boolean) => setBeside(on ? "operations" : null),
    restore: (kept: { commit: string; name: string }) => asking.ask({ what: "branch", start: kept.commit, name: kept.name }),
  });
  const leftOut = graph.rows[0]?.tips_left_out ?? 0;
  const list = (
    <div className="flex h-full min-h-0 flex-col">
      <GraphToolbar
        search={search}
        filter={filter}
        onFilter={setFilter}
        branches={names}
        authors={authors}
        abandoned={abandoned}
        onAbandoned={setAbandoned}
        onZoom={steady.zoomBy}
        branchesShown={branchesShown}
        onBranchesShown={steady.setBranchesShown}
        operationsShown={beside === "operations"}
        onOperationsShown={steady.showOperations}
        onUndo={steady.undo}
      />
      {leftOut > 0 && (
        <p role="note" className="shrink-0 border-b border-line px-3 py-1 text-xs text-muted">
          {`${leftOut.toLocaleString("en")} older branches and tags are not drawn.`}
        </p>
      )}
      {graph.error !== null && graph.error !== undefined && graph.rows.length === 0 ? (
        <ErrorState error={graph.error} onRetry={graph.retry} />
      ) : graph.loading ? (
        <Skeleton lines={12} />
      ) : rows.length === 0 ? (
        <EmptyState title={looking ? "Looking" : isFiltering(filter) ? "Nothing fits" : "No commits yet"}>
          {isFiltering(filter) ? "No commit fits the filter." : "Save a file on a branch, and its commit appears here."}
        </EmptyState>
      ) : (
        <ContextMenu entries={entries}>
          <div className="min-h-0 flex-1">
            <CommitList
              repo={repo}
              rows={rows}
              zoom={zoomAt(shownZoom)}
              onZoom={zoomBy}
              selected={selected}
              onSelect={show}
              onMenu={setSelected}
              onOpen={parts.openCommit}
              aiBranches={aiBranches}
              over={over}
              onReach={need}
              reveal={reveal}
            />
          </div>
        </ContextMenu>
      )}
    </div>
  );
  return (
    <div ref={whole} role="presentation" className="h-full min-h-0" onPointerDown={onPointerDown}>
      <Panels id="graph" panelIds={[...(branchesShown ? ["branches"] : []), "main"]}>
        {branchesShown && (
          <>
            <Panel id="branches" size={200} min={140} max={400} fixed>
              <BranchList
                repo={repo}
                branches={known}
                over={over}
                onReveal={steady.go}
                entriesFor={entriesFor}
                onRestore={steady.restore}
              />
            </Panel>
            <PanelEdge />
          </>
        )}
        <Panel id="main" min={280}>
          <Panels id={narrow ? "graph-below" : "graph-beside"} direction={narrow ? "vertical" : "horizontal"} panelIds={["list", ...(beside ? ["details"] : [])]}>
            <Panel id="list" min={200}>
              {list}
            </Panel>
            {beside !== null && (
              <>
                <PanelEdge direction={narrow ? "vertical" : "horizontal"} />
                <Panel id="details" size={narrow ? "45" : "40"} min={200}>
                  {beside === "operations" ? (
                    <OperationList repo={repo} onClose={() => setBeside(null)} />
                  ) : (
                    selected !== null && <CommitDetails repo={repo} commit={selected} onCommit={go} asking={asking} />
                  )}
                </Panel>
              </>
            )}
          </Panels>
        </Panel>
      </Panels>
      {held !== null && <HeldChip held={held} start={start} preview={preview.data} problem={preview.error?.message} />}
      <Dialogs repo={repo} asking={asking} />
    </div>
  );
}
