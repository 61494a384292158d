/** The columns of a graph that was narrowed down; the server places the rows of the whole one. */
import type { GraphRow } from "@/api";

export interface Filter {
  /** Only what this branch reaches; empty: all. */
  branch: string;
  author: string;
  text: string;
}

export const NO_FILTER: Filter = { branch: "", author: "", text: "" };

export function isFiltering(filter: Filter): boolean {
  return filter.branch !== "" || filter.author !== "" || filter.text.trim() !== "";
}

/** Rows that fit. Where all parents are still there lines are drawn anew; among single finds there are none. */
export function filtered(rows: readonly GraphRow[], filter: Filter): readonly GraphRow[] {
  if (!isFiltering(filter)) return rows;
  const reached = filter.branch === "" ? rows : placed(reachedBy(rows, `refs/heads/${filter.branch}`));
  const text = filter.text.trim().toLowerCase();
  if (text === "" && filter.author === "") return reached;
  return reached
    .filter((row) => (filter.author === "" || row.author === filter.author) && (text === "" || has(row, text)))
    .map((row) => ({ ...row, lane: 0, edges: [] }));
}

function has(row: GraphRow, text: string): boolean {
  return (
    row.subject.toLowerCase().includes(text) ||
    row.id.startsWith(text) ||
    row.author.toLowerCase().includes(text) ||
    row.refs.some((ref) => ref.toLowerCase().includes(text))
  );
}

/** Children come before parents, so that one pass finds them all. */
function reachedBy(rows: readonly GraphRow[], ref: string): GraphRow[] {
  const wanted = new Set<string>();
  return rows.filter((row) => {
    if (!wanted.delete(row.id) && !row.refs.includes(ref)) return false;
    for (const parent of row.parents) wanted.add(parent);
    return true;
  });
}

/** A first parent continues in its child's lane; free lanes are used again. */
export function placed(rows: readonly GraphRow[]): GraphRow[] {
  const lanes: (string | null)[] = [];
  const free = () => {
    const found = lanes.indexOf(null);
    return found < 0 ? lanes.push(null) - 1 : found;
  };
  return rows.map((row) => {
    const waiting = lanes.indexOf(row.id);
    const lane = waiting < 0 ? free() : waiting;
    lanes[lane] = null;
    const passing = lanes.flatMap((to, from) => (to === null ? [] : [{ from, to }]));
    row.parents.forEach((parent, number) => lead(lanes, parent, lane, number === 0, free));
    const edges = passing.map(({ from, to }) => ({ from_lane: from, to_lane: lanes.indexOf(to), parent: to }));
    const own = row.parents.map((parent) => ({ from_lane: lane, to_lane: lanes.indexOf(parent), parent }));
    while (lanes.at(-1) === null) lanes.pop();
    return { ...row, lane, edges: [...edges, ...own] };
  });
}

function lead(lanes: (string | null)[], parent: string, lane: number, isFirst: boolean, free: () => number): void {
  const known = lanes.indexOf(parent);
  if (known < 0) lanes[lanes[lane] === null ? lane : free()] = parent;
  else if (isFirst && known > lane) {
    lanes[known] = null;
    lanes[lane] = parent;
  }
}

/** How many columns the rows need. */
export function laneCount(rows: readonly GraphRow[], first: number, last: number): number {
  let most = 0;
  for (let i = first; i <= last; i++) {
    const row = rows[i];
    if (row === undefined) continue;
    most = Math.max(most, row.lane);
    for (const edge of row.edges) most = Math.max(most, edge.from_lane, edge.to_lane);
  }
  return most + 1;
}
