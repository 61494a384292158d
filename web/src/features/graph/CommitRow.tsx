import { memo } from "react";

import type { GraphRow } from "@/api";
import { classNames } from "@/lib/class_names";
import { exactTime, relativeTime, shortId } from "@/lib/format";

import { authorName, isByAgent, labelsOf, type Label } from "./labels";
import type { Light } from "./offers";
import { RefLabel } from "./RefLabel";
import type { Zoom } from "./zoom";

export interface CommitRowProps {
  row: GraphRow;
  index: number;
  total: number;
  zoom: Zoom;
  left: number;
  /** How many of time, id and author there is room for. */
  columns: number;
  selected: boolean;
  aiBranches: ReadonlySet<string>;
  /** The branch that something is held over. */
  over: { branch: string; light: Light | "checking" } | null;
}

const MOST_LABELS = 4;

export const rowId = (commit: string) => `commit-${commit}`;

function spoken(row: GraphRow, labels: Label[]): string {
  const names = labels.filter((label) => label.kind !== "head").map((label) => label.name);
  return [
    row.subject || "No message",
    isByAgent(row.author) ? `by an agent, ${authorName(row.author)}` : `by ${row.author}`,
    relativeTime(row.time),
    ...names,
    ...(row.abandoned ? ["abandoned"] : []),
  ].join(", ");
}

/** One commit of the list. Its words, and the place where it can be taken hold of. */
export const CommitRow = memo(function CommitRow({ row, index, total, zoom, left, columns, selected, aiBranches, over }: CommitRowProps) {
  const labels = labelsOf(row.refs);
  const roomy = zoom.rowHeight >= 40;
  return (
    <div
      id={rowId(row.id)}
      role="option"
      aria-selected={selected}
      aria-setsize={total}
      aria-posinset={index + 1}
      aria-label={spoken(row, labels)}
      data-commit={row.id}
      className={classNames(
        "absolute inset-x-0 flex items-center pr-3 contain-strict select-none",
        selected ? "bg-accent/12" : "hover:bg-surface-1",
        row.abandoned && "text-muted",
      )}
      style={{ top: index * zoom.rowHeight, height: zoom.rowHeight, paddingLeft: left }}
    >
      {zoom.words && (
        <>
          <div className={classNames("flex min-w-0 flex-1", roomy ? "flex-col justify-center" : "items-center gap-2")}>
            <div className="flex min-w-0 items-center gap-1.5">
              {labels.slice(0, MOST_LABELS).map((label) => (
                <RefLabel
                  key={label.kind + label.name}
                  label={label}
                  ai={label.kind === "branch" && aiBranches.has(label.name)}
                  light={over !== null && label.kind === "branch" && over.branch === label.name ? over.light : undefined}
                />
              ))}
              {labels.length + row.refs_left_out > MOST_LABELS && (
                <span className="shrink-0 text-xs text-muted" title={labels.slice(MOST_LABELS).map((each) => each.name).join("\n")}>
                  +{(labels.length + row.refs_left_out - MOST_LABELS).toLocaleString("en")}
                </span>
              )}
              {isByAgent(row.author) && (
                <span title="A turn of an agent" className="shrink-0 text-accent">
                  ✦
                </span>
              )}
              <span className={classNames("min-w-16 flex-1 truncate", row.subject === "" && "text-muted italic")}>
                {row.subject || "No message"}
              </span>
            </div>
            {roomy && <span className="truncate text-xs text-muted">{authorName(row.author)}</span>}
          </div>
          {!roomy && columns > 2 && <span className="ml-3 w-32 shrink-0 truncate text-xs text-muted">{authorName(row.author)}</span>}
          {columns > 0 && (
            <time
              onPointerEnter={(event) => {
                // Only the one that is pointed at needs it.
                event.currentTarget.title = exactTime(row.time);
              }}
              className="ml-3 w-20 shrink-0 truncate text-right text-xs text-muted"
            >
              {relativeTime(row.time)}
            </time>
          )}
          {columns > 1 && <code className="ml-3 w-14 shrink-0 text-xs text-muted">{shortId(row.id)}</code>}
        </>
      )}
    </div>
  );
});
