/** A turn as it is shown, whether it is under way or was read from the branch. */
import type { Turn } from "@/api";

export interface Call {
  id: string;
  name: string;
  /** The one argument that tells most. */
  about: string;
  /** Known when the turn has ended. */
  arguments: Record<string, unknown> | null;
  /** Null while it runs. */
  result: string | null;
  failed: boolean;
  /** Where it was seen to run. */
  seconds: number | null;
}

export type Part =
  | { kind: "text"; text: string }
  | { kind: "thinking"; text: string }
  | { kind: "note"; text: string }
  | { kind: "call"; call: Call };

export interface Spent {
  input: number;
  output: number;
  cached: number;
  cost: number | null;
}

export type TurnState = "queued" | "running" | "done" | "cancelled" | "failed" | "limited" | "aside";

export interface ShownTurn {
  /** Its mark, which is known from the moment it was sent. */
  mark: string;
  /** Null until it has begun. */
  id: string | null;
  number: number | null;
  asked: string;
  model: string;
  /** Seconds since 1970. */
  started: number;
  parts: Part[];
  /** What comes right now, after the parts. */
  streaming: string;
  state: TurnState;
  reason: string;
  commit: string | null;
  files: string[];
  spent: Spent;
  /** What the model calls its change. */
  subject: string | null;
  /** The branch that has the work of a turn that was set aside. */
  keptOn: string | null;
  /** What is wrong between Forge and the model right now, and when it is asked again. */
  trouble: string | null;
}

/** Of a turn from which nothing has been heard yet. */
export const UNHEARD = {
  id: null,
  number: null,
  asked: "",
  parts: [],
  streaming: "",
  reason: "",
  commit: null,
  files: [],
  spent: { input: 0, output: 0, cached: 0, cost: null },
  subject: null,
  keptOn: null,
  trouble: null,
} satisfies Partial<ShownTurn>;

const SUBJECT = /^[ \t]*[*_`#]*Commit:[*_`]*[ \t]*(.+?)[*_`]*[ \t]*$/im;
const TELLING = ["path", "command", "query", "pattern", "prefix", "old_path", "name", "question"];

/** The line that a model writes for the commit is shown there, not in what it says. */
export function subjectOf(text: string): string | null {
  return SUBJECT.exec(text)?.[1] ?? null;
}

export function withoutSubject(text: string): string {
  return text.replace(new RegExp(SUBJECT, "gim"), "").trim();
}

/** A call that waits for a person, or has the answer. */
export function asksPerson(call: Call): boolean {
  return call.name === "ask_user";
}

/** Whether nothing continues until a person has answered. */
export function waitsForPerson(turn: ShownTurn): boolean {
  const last = turn.parts.at(-1);
  return turn.state === "running" && last?.kind === "call" && asksPerson(last.call) && last.call.result === null;
}

export function markOf(turn: string): string {
  return turn.slice(turn.indexOf("-") + 1);
}

function aboutOf(given: Record<string, unknown>): string {
  const found = TELLING.map((name) => given[name]).find((value) => typeof value === "string");
  return typeof found === "string" ? found.split(/\s+/).join(" ").trim().slice(0, 120) : "";
}

interface Message {
  role: string;
  text?: string;
  kind?: string;
  thinking?: unknown;
  calls?: { id: string; name: string; arguments: Record<string, unknown> }[];
  opaque?: { part?: { part_kind?: string; content?: unknown } }[];
  call_id?: string;
  failed?: boolean;
}

/** Providers hand thinking back in parts that only they understand; its words are in there. */
function thinkingOf(message: Message): string {
  if (typeof message.thinking === "string") return message.thinking;
  const parts = (message.opaque ?? []).flatMap(({ part }) => (part?.part_kind === "thinking" ? [part.content] : []));
  return parts.filter((content) => typeof content === "string").join("\n\n");
}

const CALL_SECONDS = new Map<string, number>();

/** How long a call took is told only while it runs; this page remembers it. */
export function rememberSeconds(turn: string, call: string, seconds: number): void {
  CALL_SECONDS.set(`${turn} ${call}`, seconds);
}

export function partsOf(turn: string, messages: readonly unknown[]): Part[] {
  const parts: Part[] = [];
  const calls = new Map<string, Call>();
  for (const message of messages as readonly Message[]) {
    if (message.role === "assistant") {
      const thinking = thinkingOf(message);
      if (thinking !== "") parts.push({ kind: "thinking", text: thinking });
      if (message.text?.trim()) parts.push({ kind: "text", text: message.text });
      for (const made of message.calls ?? []) {
        const seconds = CALL_SECONDS.get(`${turn} ${made.id}`) ?? null;
        const call: Call = { ...made, about: aboutOf(made.arguments), result: null, failed: false, seconds };
        calls.set(made.id, call);
        parts.push({ kind: "call", call });
      }
    } else if (message.role === "tool") {
      const call = calls.get(message.call_id ?? "");
      if (call) Object.assign(call, { result: message.text ?? "", failed: message.failed === true });
    }
  }
  return parts;
}

const SHOWN = new WeakMap<Turn, ShownTurn>();

/** The same object for the same turn, so that what did not change is not drawn again. */
export function shownTurn(turn: Turn): ShownTurn {
  const known = SHOWN.get(turn);
  if (known !== undefined) return known;
  const parts = partsOf(turn.id, turn.messages ?? []);
  if (turn.messages === null && turn.answered !== "") parts.push({ kind: "text", text: turn.answered });
  const { input_tokens: input, output_tokens: output, cache_read_tokens: cached, cost } = turn.usage;
  const made: ShownTurn = {
    mark: markOf(turn.id),
    id: turn.id,
    number: turn.number,
    asked: turn.asked,
    model: turn.model,
    started: turn.started,
    parts,
    streaming: "",
    state: turn.status as TurnState,
    reason: turn.reason,
    commit: turn.commit,
    files: turn.files,
    spent: { input, output, cached, cost },
    subject: subjectOf(turn.answered),
    keptOn: null,
    trouble: null,
  };
  SHOWN.set(turn, made);
  return made;
}
