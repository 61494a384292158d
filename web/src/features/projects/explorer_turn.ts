/** The explorer's turn under way, put together from what is heard of it. */
import type { Event } from "@/api";

export interface LiveTurn {
  turn: string;
  /** Which of the turn's answers `text` is. */
  answer: number;
  text: string;
  /** What tools noted, in order. */
  noted: readonly string[];
}

const OURS = "explore-";

/** What an event makes of what is known; null where no turn is under way. Pieces that follow a gap are left out. */
export function heardExplorer(before: LiveTurn | null, event: Event): LiveTurn | null {
  if (event.type === "ProjectSaid") return event.role === "ai" ? null : before;
  if (event.type === "ProjectMoved") return null;
  if (!("turn" in event) || !event.turn.startsWith(OURS)) return before;
  const now = before?.turn === event.turn ? before : { turn: event.turn, answer: 1, text: "", noted: [] };
  switch (event.type) {
    case "TextStreamed":
      return streamed(now, event.text, event.answer, event.at);
    case "TextRestarted":
      return { ...now, text: "" };
    case "ModelAnswered":
      return { ...now, answer: event.answer, text: event.text };
    case "ToolEnded":
      return event.failed ? now : { ...now, noted: [...now.noted, event.text] };
    default:
      return now;
  }
}

function streamed(now: LiveTurn, piece: string, answer: number, at: number): LiveTurn {
  if (answer !== now.answer) return at === 0 ? { ...now, answer, text: piece } : { ...now, answer, text: "" };
  return at === now.text.length ? { ...now, text: now.text + piece } : now;
}

/** An answer that says which question it is for. */
export function quoted(question: string, draft: string): string {
  const before = draft.trim() === "" ? "" : `${draft.trimEnd()}\n\n`;
  return `${before}> ${question}\n`;
}
