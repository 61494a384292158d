/** Completion in the editor: what the schema of a contract allows at the cursor, and how it is written there. */
import type { Completion, CompletionContext, CompletionResult, CompletionSource } from "@codemirror/autocomplete";
import type { EditorView } from "@codemirror/view";

import { placeAt, type Format, type Place } from "./place";
import { suggestions, type Schema, type Suggestion } from "./suggestions";

const NEEDED_FIRST = 50;
const WORD = /^[\w$./-]*$/;

/** `schema` gives null while it is not known. */
export function completesFrom(schema: () => Schema | null, format: Format): CompletionSource {
  return ({ state, pos, explicit }: CompletionContext): CompletionResult | null => {
    const known = schema();
    const place = known === null ? null : placeAt(state.sliceDoc(), pos, format);
    if (known === null || place === null || (place.typed === "" && !explicit && !opensText(state.sliceDoc(pos - 1, pos)))) return null;
    const found = suggestions(known, place);
    if (found.length === 0) return null;
    return { from: place.from, options: found.map((each, at) => option(each, at, place)), validFor: WORD };
  };
}

const opensText = (char: string) => char === '"';

function option(suggestion: Suggestion, at: number, place: Place): Completion {
  const { label, slot, isRequired, description } = suggestion;
  return {
    label,
    type: slot === "key" ? "property" : "enum",
    ...(isRequired && { detail: "required" }),
    ...(description !== "" && { info: description }),
    // In the order of the schema: the editor would sort by letters.
    boost: (isRequired ? NEEDED_FIRST : 0) + Math.max(0, 49 - at),
    apply: (view, _, from, to) => write(view, suggestion, place, from, to),
  };
}

function write(view: EditorView, suggestion: Suggestion, place: Place, from: number, to: number): void {
  const [start, end] = [openQuote(view, from), closeQuote(view, to)];
  const { before, after } = written(suggestion, place, /^\s*:/.test(view.state.sliceDoc(end, end + 20)));
  view.dispatch({
    changes: { from: start, to: end, insert: before + after },
    selection: { anchor: start + before.length },
    userEvent: "input.complete",
    scrollIntoView: true,
  });
}

/** What is written before and after the cursor. */
export function written({ label, slot, kind }: Suggestion, { quoted, column }: Place, hasColon: boolean): { before: string; after: string } {
  const isText = slot === "key" || kind === "text";
  const name = quoted && isText ? `"${label}"` : label;
  if (slot === "value" || hasColon) return { before: name, after: "" };
  if (quoted) {
    const [open = "", close = ""] = { object: "{}", array: "[]", text: '""', other: "" }[kind];
    return { before: `${name}: ${open}`, after: close };
  }
  if (column === null || kind === "text" || kind === "other") return { before: `${name}: `, after: "" };
  return { before: `${name}:\n${" ".repeat(column + 2)}${kind === "array" ? "- " : ""}`, after: "" };
}

function openQuote(view: EditorView, from: number): number {
  return /["']/.test(view.state.sliceDoc(Math.max(0, from - 1), from)) ? from - 1 : from;
}

function closeQuote(view: EditorView, to: number): number {
  const [rest = ""] = /^[\w$./-]*["']/.exec(view.state.sliceDoc(to, to + 200)) ?? [];
  return to + rest.length;
}
