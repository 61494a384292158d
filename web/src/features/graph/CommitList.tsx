import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type PointerEvent } from "react";

import type { GraphRow } from "@/api";
import { useFixedRows } from "@/ui";

import { CommitRow, rowId } from "./CommitRow";
import { EDGE, laneX } from "./draw";
import { HoverCard } from "./HoverCard";
import { LaneCanvas } from "./LaneCanvas";
import { laneCount } from "./lanes";
import type { Light } from "./offers";
import { LINE, ShapeLabels } from "./ShapeLabels";
import { useColumns } from "./useColumns";
import { useHover } from "./useHover";
import { useLanePan } from "./useLanePan";
import type { Zoom } from "./zoom";

export interface CommitListProps {
  repo: string;
  rows: readonly GraphRow[];
  zoom: Zoom;
  onZoom: (step: number) => void;
  selected: string | null;
  onSelect: (commit: string) => void;
  /** The menu of a row is opened. */
  onMenu: (commit: string) => void;
  /** Enter on a row. */
  onOpen: (commit: string) => void;
  aiBranches: ReadonlySet<string>;
  over: { branch: string; light: Light | "checking" } | null;
  /** Rows down to this one are on screen soon. */
  onReach: (count: number) => void;
  /** Brings a commit into view each time that `at` grows. */
  reveal: { commit: string; at: number } | null;
}

const MOST_LANES_WIDTH = 280;
const AHEAD = 400;
const PAGE_KEYS: Record<string, number> = { ArrowDown: 1, ArrowUp: -1 };

/** The commits, newest first: words and focus in the page, lanes on a canvas beside them. Only what is near is there. */
export function CommitList(props: CommitListProps) {
  const { repo, rows, zoom, onZoom, selected, onSelect, onMenu, onOpen, aiBranches, over, onReach, reveal } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const { rowHeight, laneWidth } = zoom;
  const { first, last, total, show, slot } = useFixedRows({ box: scroller, count: rows.length, height: rowHeight });
  const columns = useColumns(scroller);
  const near = useMemo(() => laneCount(rows, first, last), [rows, first, last]);
  // It only grows while scrolling, so that words do not move sideways.
  const [lanes, setLanes] = useState(near);
  if (near > lanes) setLanes(near);
  const whole = EDGE * 2 + (lanes - 1) * laneWidth;
  const left = Math.min(whole, MOST_LANES_WIDTH);
  const { pan, by } = useLanePan(scroller, whole - left, onZoom);
  const size = { rowHeight, laneWidth, pan };
  const { hover, ...hovering } = useHover(scroller);

  useEffect(() => onReach(last + AHEAD), [onReach, last]);
  // Looked up when it is needed: a map of all would be made anew with every page.
  const placeOf = (commit: string | null | undefined) => (commit == null ? -1 : rows.findIndex((row) => row.id === commit));
  const inView = rows.slice(first, last + 1);
  useEffect(() => {
    const place = placeOf(reveal?.commit);
    if (place >= 0) show(place);
    // Only when somebody asks for it: rows that come in later do not move the view.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [reveal, show]);

  const go = (index: number) => {
    const place = Math.max(0, Math.min(index, rows.length - 1));
    const row = rows[place];
    if (row === undefined) return;
    onSelect(row.id);
    show(place);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey) return;
    const chosen = placeOf(selected);
    const visible = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / rowHeight) - 1);
    if (event.altKey && (event.key === "ArrowLeft" || event.key === "ArrowRight")) by(event.key === "ArrowLeft" ? -laneWidth : laneWidth);
    else if (event.altKey) return;
    else if (event.key in PAGE_KEYS) go(chosen + (PAGE_KEYS[event.key] ?? 0));
    else if (event.key === "PageDown") go(chosen + visible);
    else if (event.key === "PageUp") go(chosen - visible);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(rows.length - 1);
    else if (event.key === "Enter" && selected !== null) onOpen(selected);
    else if (event.key === "+") onZoom(1);
    else return;
    event.preventDefault();
  };
  const rowAt = (target: EventTarget) => (target as Element).closest<HTMLElement>("[data-commit]")?.dataset["commit"];

  /** Beside the dots the lanes themselves are held, and move with the pointer. */
  const onPointerDown = (event: PointerEvent) => {
    const element = scroller.current;
    const row = rows[placeOf(rowAt(event.target))];
    if (event.button !== 0 || element === null || event.pointerType === "touch") return;
    const x = event.clientX - element.getBoundingClientRect().left;
    if (x > left || (row !== undefined && Math.abs(x - laneX(row.lane, size)) < 9)) return;
    event.stopPropagation();
    const from = { x: event.clientX, y: event.clientY, top: element.scrollTop, pan };
    const move = (now: globalThis.PointerEvent) => {
      element.scrollTop = from.top - (now.clientY - from.y);
      by(from.pan - (now.clientX - from.x) - pan);
    };
    const end = () => window.removeEventListener("pointermove", move);
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end, { once: true });
  };

  return (
    <div className="relative h-full min-h-0">
      <div
        ref={scroller}
        data-edge-scroll
        role="listbox"
        aria-label="Commits, newest first"
        aria-activedescendant={selected !== null && inView.some((row) => row.id === selected) ? rowId(selected) : undefined}
        tabIndex={0}
        className="focus-inset h-full overflow-x-hidden overflow-y-auto"
        onKeyDown={onKeyDown}
        onPointerDown={onPointerDown}
        onClick={(event) => {
          const commit = rowAt(event.target);
          if (commit !== undefined) onSelect(commit);
        }}
        onContextMenu={(event) => {
          const commit = rowAt(event.target);
          if (commit !== undefined) onMenu(commit);
        }}
        {...hovering}
      >
        <div role="presentation" className="relative contain-strict" style={{ height: zoom.words ? total : total + LINE }}>
          {inView.map((row, i) => (
            <CommitRow
              key={slot(first + i)}
              row={row}
              index={first + i}
              total={rows.length}
              zoom={zoom}
              left={left}
              columns={columns}
              selected={row.id === selected}
              aiBranches={aiBranches}
              over={over !== null && row.refs.includes(`refs/heads/${over.branch}`) ? over : null}
            />
          ))}
          {!zoom.words && <ShapeLabels rows={inView} first={first} rowHeight={rowHeight} left={left} aiBranches={aiBranches} over={over} />}
          <LaneCanvas rows={rows} first={first} count={Math.max(0, last - first + 1)} width={left} size={size} />
        </div>
      </div>
      {hover !== null && over === null && <HoverCard repo={repo} row={rows[placeOf(hover.commit)]} x={hover.x} y={hover.y} />}
    </div>
  );
}
