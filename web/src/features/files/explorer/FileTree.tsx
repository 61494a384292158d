import { useEffect, useId, useRef, type MouseEvent, type ReactNode } from "react";

import { useSteady } from "@/lib/steady";
import { useFixedRows } from "@/ui";

import type { Changes, ContextMarks, Letter } from "./marks";
import { inContext } from "./marks";
import { NameField } from "./NameField";
import type { Row } from "./tree";
import { TreeRow } from "./TreeRow";
import { useTreeKeys } from "./useTreeKeys";

const HEIGHT = 24;

export interface FileTreeProps {
  rows: readonly Row[];
  changes: Changes;
  context: ContextMarks;
  unsaved: ReadonlySet<string>;
  /** The file in front. */
  current: string | undefined;
  active: number;
  /** The path whose name is being changed. */
  renaming: string | undefined;
  /** "file" or "folder", while a new one is named. */
  naming: "file" | "folder";
  refusal: string | undefined;
  onActive: (index: number) => void;
  onToggle: (folder: string, open?: boolean) => void;
  onOpen: (row: Row, keep: boolean) => void;
  onContext: (row: Row) => void;
  onRename: (row: Row) => void;
  onDelete: (row: Row) => void;
  onNamed: (name: string | undefined) => void;
}

function letterOf({ letters }: Changes, row: Row): Letter | undefined {
  const letter = letters.get(row.path);
  return letter === "D" && row.kind !== "gone" ? undefined : letter;
}

/** Rows are used again for other files while one scrolls: what is inside of them must not keep the focus. */
function keepFocus(event: MouseEvent<HTMLElement>) {
  if ((event.target as Element).closest("input") !== null) return;
  event.preventDefault();
  event.currentTarget.focus({ preventScroll: true });
}

/** Only the rows on screen are elements; the focus stays on the tree and points at the active one. */
export function FileTree(props: FileTreeProps) {
  const { rows, changes, context, unsaved, current, active, renaming, naming, refusal, onActive, onToggle, onOpen, onContext, onNamed } = props;
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const { first, last, total, show, slot } = useFixedRows({ box, count: rows.length, height: HEIGHT });
  const steady = useSteady({ onContext });
  const onKeyDown = useTreeKeys({ ...props, onOpen: (row) => onOpen(row, false), onActive: (index) => onActive(Math.max(0, Math.min(rows.length - 1, index))) });

  const activePath = rows[active]?.path;
  useEffect(() => {
    if (activePath !== undefined) show(active);
    // Scrolls when another row becomes the active one, not when rows come and go.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [activePath]);

  const at = (event: MouseEvent): number => {
    const path = (event.target as Element).closest<HTMLElement>("[data-path]")?.dataset["path"];
    return path === undefined ? -1 : rows.findIndex((row) => row.path === path);
  };
  const onClick = (event: MouseEvent) => {
    const index = at(event);
    const row = rows[index];
    if (row === undefined || row.kind === "naming" || row.path === renaming) return;
    onActive(index);
    if (row.kind === "directory") onToggle(row.path);
    else onOpen(row, event.detail > 1);
  };
  const done = () => {
    box.current?.focus();
    onNamed(undefined);
  };

  const fieldOf = (row: Row): ReactNode => {
    if (row.kind === "naming") return <NameField label={`Name of the new ${naming}`} onDone={onNamed} onCancel={done} />;
    return row.path === renaming ? <NameField label={`New name of ${row.name}`} value={row.name} onDone={onNamed} onCancel={done} /> : null;
  };

  return (
    <div
      ref={box}
      role="tree"
      tabIndex={0}
      aria-label="Files"
      aria-activedescendant={activePath === undefined ? undefined : `${id}${active}`}
      onKeyDown={onKeyDown}
      onMouseDown={keepFocus}
      onClick={onClick}
      onContextMenu={(event) => {
        const index = at(event);
        if (index >= 0) onActive(index);
      }}
      className="group focus-inset relative min-h-0 flex-1 overflow-auto focus-visible:outline-none"
    >
      <div role="presentation" className="contain-strict" style={{ height: total }}>
        {rows.slice(first, last + 1).map((row, i) => {
          const index = first + i;
          const start = index * HEIGHT;
          if (row.kind === "waiting") {
            return <div key={row.path} className="absolute h-3 w-1/2 rounded-sm bg-surface-2" style={{ top: start + 6, left: 32 + row.depth * 12 }} />;
          }
          const field = fieldOf(row);
          return (
            <TreeRow
              key={field === null ? `slot:${slot(index)}` : row.path}
              id={`${id}${index}`}
              row={row}
              top={start}
              active={index === active}
              current={row.path === current}
              letter={letterOf(changes, row)}
              changedBelow={changes.folders.has(row.path)}
              unsaved={unsaved.has(row.path)}
              context={inContext(context, row.path)}
              below={context.below.get(row.path) ?? 0}
              refusal={refusal}
              onContext={steady.onContext}
              field={field}
            />
          );
        })}
      </div>
    </div>
  );
}
