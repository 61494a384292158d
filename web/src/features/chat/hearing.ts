/** The turn under way, put together from what is heard of it. */
import type { Event, EventOf } from "@/api";

import { markOf, rememberSeconds, subjectOf, UNHEARD, type Part, type ShownTurn, type Spent } from "./parts";

export interface Live {
  turn: ShownTurn;
  /** When each call began. */
  began: Record<string, number>;
  /** After a break: what was shown before it, and what has been heard anew. Null where nothing was missed. */
  anew: string | null;
}

function begun(turn: string, model: string, started: number): Live {
  const number = Number.parseInt(turn, 10);
  return {
    turn: { ...UNHEARD, mark: markOf(turn), id: turn, number: Number.isNaN(number) ? null : number, model, started, state: "running" },
    began: {},
    anew: null,
  };
}

/**
 * Pieces of a text that was interrupted come again from its beginning, or continue where nobody listened. The first are
 * shown as soon as they are longer than what is there; the others are left out: the whole text follows.
 */
function streamed(live: Live, text: string): Live {
  const { turn } = live;
  if (live.anew === null) return { ...live, turn: { ...turn, streaming: turn.streaming + text } };
  const anew = live.anew + text;
  const longer = anew.length > turn.streaming.length && anew.startsWith(turn.streaming);
  return longer ? { ...live, anew: null, turn: { ...turn, streaming: anew } } : { ...live, anew };
}

/** Nobody knows what was said meanwhile. */
export function interrupted(live: Live): Live {
  return live.turn.state === "running" ? { ...live, anew: "" } : live;
}

function withPart(live: Live, part: Part): Live {
  return { ...live, turn: { ...live.turn, parts: [...live.turn.parts, part] } };
}

function plus(spent: Spent, event: EventOf<"ModelAnswered">): Spent {
  return {
    input: spent.input + event.input_tokens,
    output: spent.output + event.output_tokens,
    cached: spent.cached + event.cache_read_tokens,
    cost: event.cost === null ? spent.cost : (spent.cost ?? 0) + event.cost,
  };
}

function answered(live: Live, event: EventOf<"ModelAnswered">): Live {
  const { turn } = live;
  const parts: Part[] = event.text.trim() === "" ? turn.parts : [...turn.parts, { kind: "text", text: event.text }];
  const subject = subjectOf(event.text) ?? turn.subject;
  return { ...live, anew: null, turn: { ...turn, parts, streaming: "", subject, spent: plus(turn.spent, event) } };
}

function called(live: Live, event: EventOf<"ToolStarted">, time: number): Live {
  if (event.call in live.began) return live;
  const { call: id, name, about } = event;
  const call = { id, name, about, arguments: null, result: null, failed: false, seconds: null };
  return { ...withPart(live, { kind: "call", call }), began: { ...live.began, [id]: time } };
}

function returned(live: Live, event: EventOf<"ToolEnded">, time: number): Live {
  const seconds = Math.max(0, time - (live.began[event.call] ?? time));
  rememberSeconds(event.turn, event.call, seconds);
  const parts = live.turn.parts.map((part) =>
    part.kind === "call" && part.call.id === event.call
      ? { ...part, call: { ...part.call, result: event.text, failed: event.failed, seconds } }
      : part,
  );
  return { ...live, turn: { ...live.turn, parts } };
}

function ended(live: Live, change: Partial<ShownTurn>): Live {
  const { streaming, parts } = live.turn;
  const said: Part[] = streaming.trim() === "" ? parts : [...parts, { kind: "text", text: streaming }];
  return { ...live, anew: null, turn: { ...live.turn, parts: said, streaming: "", ...change } };
}

function stopped(reason: string): ShownTurn["state"] {
  return reason === "cancelled" || reason === "limited" ? reason : "failed";
}

/** What an event makes of what is known. Events of other things change nothing. */
export function heardTurn(before: Live | null, event: Event, time: number): Live | null {
  if (!("turn" in event) || event.turn === "") return before;
  if (event.type === "TurnStarted") return before?.turn.id === event.turn ? before : begun(event.turn, event.model, time);
  // Whoever comes in the middle of a text hears its rest; where it began is told with the whole.
  const found = before?.turn.id === event.turn ? before : begun(event.turn, "", time);
  if (found.turn.state !== "running") return before;
  if (event.type === "ModelRetryScheduled") {
    return { ...found, turn: { ...found.turn, trouble: `${event.model}: ${event.text}` } };
  }
  // Whatever else is heard, the trouble is over.
  const known = found.turn.trouble === null ? found : { ...found, turn: { ...found.turn, trouble: null } };
  switch (event.type) {
    case "TextStreamed":
      return streamed(known, event.text);
    case "TextRestarted":
      return { ...known, anew: null, turn: { ...known.turn, streaming: "" } };
    case "ModelAnswered":
      return answered(known, event);
    case "ToolStarted":
      return called(known, event, time);
    case "ToolEnded":
      return returned(known, event, time);
    case "ContextCompacted":
      return withPart(known, { kind: "note", text: "The conversation was condensed to make room." });
    case "TurnCommitted":
      return ended(known, { state: "done", commit: event.commit, files: event.files });
    case "TurnStopped":
      return ended(known, { state: stopped(event.reason), reason: event.message, commit: event.commit });
    case "TurnSetAside":
      return ended(known, { state: "aside", keptOn: event.kept_on, commit: event.commit });
    default:
      return before; // a newer server may tell more than this page knows
  }
}
