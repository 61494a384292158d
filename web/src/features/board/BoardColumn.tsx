import type { Project, Shapes } from "@/api";
import { classNames } from "@/lib/class_names";

import { BoardCard } from "./BoardCard";
import { waitsFor } from "./words";

export interface BoardColumnProps {
  column: Shapes["ColumnShape"];
  projects: ReadonlyMap<string, Project>;
  /** Seconds since the board was read. */
  elapsed: number;
  /** The card that Tab leads to. */
  first: string | undefined;
}

const MOST = 200;

/** One phase. An empty one stays visible and takes little room. */
export function BoardColumn({ column, projects, elapsed, first }: BoardColumnProps) {
  const { cards, phase, title } = column;
  const rests = phase === "done" || phase === "halted";
  return (
    <section
      aria-label={`${title}, ${cards.length}`}
      className={classNames(
        "flex min-h-0 shrink-0 flex-col rounded-md bg-surface-1",
        cards.length === 0 ? "w-24" : "w-40 flex-1 basis-40 max-w-90",
      )}
    >
      <h2 className="flex min-h-12 items-baseline justify-between gap-2 px-2.5 py-2 text-xs font-medium">
        <span className="min-w-0 break-words">{title}</span>
        <span className="text-muted">{cards.length}</span>
      </h2>
      <ul className="flex min-h-0 flex-1 flex-col gap-2 overflow-y-auto px-2 pb-2">
        {cards.slice(0, MOST).map((card) => (
          <li key={card.row.id}>
            <BoardCard
              card={card}
              agent={projects.get(card.row.id)?.agent}
              queuePlace={projects.get(card.row.id)?.queue_place ?? null}
              waits={waitsFor(card, projects.get(card.row.id))}
              elapsed={rests ? 0 : elapsed}
              reached={card.row.id === first}
            />
          </li>
        ))}
        {cards.length > MOST && <li className="text-xs text-muted">{`and ${cards.length - MOST} more in Projects`}</li>}
      </ul>
    </section>
  );
}
