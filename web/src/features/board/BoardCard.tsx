import { Link } from "@tanstack/react-router";
import { CircleAlert, Hourglass, OctagonX } from "lucide-react";

import { topicOf, useTopic, type Shapes } from "@/api";
import { plural } from "@/lib/format";
import { projectPlace } from "@/lib/places";
import { Badge } from "@/ui";

import { Sparkline } from "./Sparkline";
import { span } from "./words";

export interface BoardCardProps {
  card: Shapes["CardShape"];
  agent: string | undefined;
  /** Its place among the builds that wait for others; null when it does not wait for them. */
  queuePlace: number | null;
  /** What a person is needed for; null where nobody is. */
  waits: string | null;
  elapsed: number;
  /** Whether Tab leads here; the others are reached by arrows. */
  reached: boolean;
}

export function BoardCard({ card, agent, queuePlace, waits, elapsed, reached }: BoardCardProps) {
  const { row, halted } = card;
  // Rounds are told in the project's own topic, so a card that polishes listens there.
  useTopic(row.phase === "polishing" ? topicOf.project(row.id) : null, () => undefined);
  const here = row.phase === "done" ? card.overall : card.in_phase + elapsed;
  return (
    <Link
      {...projectPlace(row.id)}
      data-card={row.id}
      tabIndex={reached ? 0 : -1}
      className="flex flex-col gap-1 rounded-md border border-line bg-surface-0 p-2.5 transition-colors hover:border-muted"
    >
      <span className="line-clamp-2 font-medium break-words" title={row.name}>
        {row.name}
      </span>
      <span className="flex items-center justify-between gap-2 text-xs text-muted">
        <span title={row.phase === "done" ? "From beginning to end" : "In this phase"}>{span(here)}</span>
        {row.deliverable_type !== null && <span>{row.deliverable_type}</span>}
      </span>
      {row.rounds > 0 && (
        <span className="flex items-end justify-between gap-2 text-xs text-muted">
          <span>{plural(row.rounds, "round")}</span>
          <Sparkline totals={row.totals} trend={card.trend} />
        </span>
      )}
      {(halted || row.outline) && (
        <Badge meaning={row.outline ? "attention" : "bad"} icon={row.outline ? CircleAlert : OctagonX} className="items-start! whitespace-normal! *:[svg]:mt-0.5 *:[svg]:shrink-0">
          {row.label}
        </Badge>
      )}
      {queuePlace !== null && (
        <Badge meaning="running" icon={Hourglass}>
          {`In the queue · number ${queuePlace}`}
        </Badge>
      )}
      {waits !== null && (
        <Badge meaning="attention" icon={CircleAlert} className="items-start! whitespace-normal! *:[svg]:mt-0.5 *:[svg]:shrink-0">
          <span className="line-clamp-3 min-w-0 break-words">waits for you: {waits}</span>
        </Badge>
      )}
      {agent !== undefined && agent !== "" && (
        <span className="truncate text-xs text-muted" title="Who answers">
          {agent}
        </span>
      )}
    </Link>
  );
}
