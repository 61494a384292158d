import { useNavigate } from "@tanstack/react-router";
import { SquareKanban } from "lucide-react";
import { useMemo, useRef, type KeyboardEvent } from "react";

import { topicOf, useBoard, useProjects, useTopic, type Project } from "@/api";
import { useCommand } from "@/lib/commands";
import { plural } from "@/lib/format";
import { Badge, Button, EmptyState, ErrorState, Skeleton, Unreadable } from "@/ui";

import { BoardColumn } from "./BoardColumn";
import { moved, place } from "./focus";
import { useElapsed } from "./useElapsed";
import { waitsFor } from "./words";

/** All projects by phase, as they move. Arrows go from card to card, Enter opens one. */
export function BoardScreen() {
  const board = useBoard();
  const projects = useProjectsById();
  const navigate = useNavigate();
  const box = useRef<HTMLDivElement>(null);
  useTopic(topicOf.board, () => undefined); // moves make the board stale
  const elapsed = useElapsed(board.dataUpdatedAt);
  const columns = board.data?.columns ?? [];
  const cards = columns.flatMap((column) => column.cards);
  const first = cards[0]?.row.id;
  const waiting = cards.filter((card) => waitsFor(card, projects.get(card.row.id)) !== null).length;

  useCommand({ id: "board.focus", title: "Focus the first card", group: "Board", run: () => cardOf(box.current, first)?.focus(), enabled: first !== undefined });
  const onKeyDown = (event: KeyboardEvent) => {
    const here = (event.target as HTMLElement).dataset["card"];
    if (here === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const lists = columns.map((column) => column.cards.map((card) => card.row.id));
    const at = place(lists, here);
    const next = at && moved(lists, at, event.key);
    if (!next) return;
    event.preventDefault();
    const card = cardOf(box.current, next);
    card?.focus();
    card?.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  if (board.isError) return <ErrorState error={board.error} onRetry={() => void board.refetch()} />;
  if (board.data === undefined) return <Skeleton lines={6} label="Loading the board" />;
  return (
    <div className="flex h-full min-h-0 flex-col">
      <header className="flex items-center gap-3 border-b border-line px-4 py-3">
        <h1 className="text-xl font-semibold">Board</h1>
        <span className="text-xs text-muted">{plural(cards.length, "project")}</span>
        {waiting > 0 && <Badge meaning="attention">{`${waiting} ${waiting === 1 ? "waits" : "wait"} for you`}</Badge>}
      </header>
      <Unreadable sentences={board.data.broken} />
      {cards.length === 0 ? (
        <EmptyState
          icon={SquareKanban}
          title="No project on the board"
          action={<Button onClick={() => void navigate({ to: "/projects/new" })}>Start a project</Button>}
        >
          Each project is a card in the column of its phase, from brain dump to done.
        </EmptyState>
      ) : (
        // Keys are heard from the cards, which are links.
        // eslint-disable-next-line jsx-a11y/no-static-element-interactions
        <div ref={box} onKeyDown={onKeyDown} className="flex min-h-0 flex-1 gap-2 overflow-x-auto p-3">
          {columns.map((column) => (
            <BoardColumn key={column.phase} column={column} projects={projects} elapsed={elapsed} first={first} />
          ))}
        </div>
      )}
    </div>
  );
}

function cardOf(box: HTMLElement | null, id: string | undefined): HTMLElement | null {
  return id === undefined ? null : (box?.querySelector<HTMLElement>(`[data-card="${CSS.escape(id)}"]`) ?? null);
}

/** What the board itself does not tell: who answers, and whether Forge is working. */
function useProjectsById(): ReadonlyMap<string, Project> {
  const projects = useProjects().data;
  return useMemo(() => new Map(projects?.map((project) => [project.id, project])), [projects]);
}
