import type { GraphRow } from "@/api";

import { labelsOf, type Label } from "./labels";
import type { Light } from "./offers";
import { RefLabel } from "./RefLabel";

export interface ShapeLabelsProps {
  rows: readonly GraphRow[];
  /** Where the first of the rows is. */
  first: number;
  rowHeight: number;
  left: number;
  aiBranches: ReadonlySet<string>;
  over: { branch: string; light: Light | "checking" } | null;
}

export const LINE = 22;
const MOST = 5;

interface Group {
  top: number;
  labels: Label[];
}

/** Labels of rows that are nearer to each other than a label is high share a line. */
export function groupedLabels(rows: readonly GraphRow[], first: number, rowHeight: number): Group[] {
  const groups: Group[] = [];
  rows.forEach((row, i) => {
    const labels = labelsOf(row.refs).filter((label) => label.kind !== "head");
    if (labels.length === 0) return;
    const top = Math.max(2, (first + i + 0.5) * rowHeight - LINE / 2);
    const last = groups.at(-1);
    if (last !== undefined && top - last.top < LINE) last.labels.push(...labels);
    else groups.push({ top, labels });
  });
  return groups;
}

/** The names of branches and tags where rows are too small for words. They can be taken and dropped upon as anywhere. */
export function ShapeLabels({ rows, first, rowHeight, left, aiBranches, over }: ShapeLabelsProps) {
  return groupedLabels(rows, first, rowHeight).map(({ top, labels }) => (
    <div key={top} className="absolute right-3 z-1 flex items-center gap-1.5 overflow-hidden" style={{ top, left, height: LINE }}>
      {labels.slice(0, MOST).map((label) => (
        <RefLabel
          key={label.kind + label.name}
          label={label}
          ai={label.kind === "branch" && aiBranches.has(label.name)}
          light={over !== null && label.kind === "branch" && over.branch === label.name ? over.light : undefined}
        />
      ))}
      {labels.length > MOST && <span className="shrink-0 text-xs text-muted" title={labels.slice(MOST).map((each) => each.name).join("\n")}>{`+${(labels.length - MOST).toString()}`}</span>}
    </div>
  ));
}
