/** Where the cursor is in a YAML or JSON text that may be half written: the path to it, and what stands there. */
import { flowPlace } from "./flow";

export type Step = string | number;

export interface Place {
  path: readonly Step[];
  slot: "key" | "value";
  /** What is typed so far, without a quote; it stands from `from` to the cursor. */
  typed: string;
  from: number;
  /** Keys of the same object, before and after the cursor. */
  present: readonly string[];
  /** Whether names and texts are quoted, as in JSON. */
  quoted: boolean;
  /** The column of a key in a YAML block; null in JSON and in what is written like it. */
  column: number | null;
}

export type Format = "yaml" | "json";

/** Null where nothing can be proposed: in a comment, in a text of many lines, after a value. */
export function placeAt(text: string, at: number, format: Format): Place | null {
  return format === "json" ? flowPlace(text, 0, at, [], true) : blockPlace(text, at);
}

/** A mapping with the key that comes last, or a sequence with the number of its last item. */
interface Level {
  column: number;
  at: Step;
  keys: string[];
}

const KEY = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s#&*!|>'"%@`{}[\],-][^#]*?|-[^\s#][^#]*?)\s*:(?=\s|$)/;
const ITEM = /^-(?:\s+|$)/;
const TEXT_BELOW = /^[|>][-+\d]*\s*(?:#.*)?$/;

function blockPlace(text: string, at: number): Place | null {
  const levels: Level[] = [];
  const start = text.lastIndexOf("\n", at - 1) + 1;
  let offset = 0;
  while (offset < start) {
    const line = lineAt(text, offset);
    const value = read(line, levels);
    offset += line.length + 1;
    if (value === null) continue;
    if (TEXT_BELOW.test(value.text)) {
      offset = afterText(text, offset, value.column);
      // An empty line belongs to the text only where it is indented as that is.
      if (offset > start && start + value.column >= at && text.slice(start, at).trim() === "") offset = start;
    }
    if (/^[{[]/.test(value.text)) {
      const inside = flowPlace(text, offset - 1 - line.length + value.from, at, pathOf(levels), false);
      if (inside !== null) return inside;
      offset = Math.max(offset, afterFlow(text, offset - 1 - line.length + value.from));
    }
  }
  return offset > start ? null : lastLine(text, start, at, levels);
}

function lastLine(text: string, start: number, at: number, levels: Level[]): Place | null {
  const before = text.slice(start, at);
  if (/(^|\s)#/.test(before)) return null;
  const value = read(before, levels);
  if (value !== null) {
    if (/^[{[]/.test(value.text)) return flowPlace(text, start + value.from, at, pathOf(levels), false);
    const typed = value.text.replace(/^["']/, "");
    return /\s/.test(before.slice(value.from - 1, value.from)) && !TEXT_BELOW.test(value.text)
      ? { path: pathOf(levels), slot: "value", typed, from: at - typed.length, present: [], quoted: false, column: null }
      : null;
  }
  const { column, rest } = indented(before, levels);
  if (/^[{[]/.test(rest)) return flowPlace(text, at - rest.length, at, pathOf(levels), false);
  leave(levels, column);
  const same = levels.at(-1);
  const isNext = same !== undefined && same.column === column;
  const present = [...(isNext ? same.keys : []), ...keysBelow(text, at, column)];
  const path = pathOf(isNext ? levels.slice(0, -1) : levels);
  const typed = rest.replace(/^["']/, "");
  return { path, slot: "key", typed, from: at - typed.length, present, quoted: false, column };
}

/** What stands after the key of a line; its place in the line and the column of its key. Null where there is no key. */
function read(line: string, levels: Level[]): { text: string; from: number; column: number } | null {
  if (/^\s*(#|$)|^(---|\.\.\.)(\s|$)/.test(line)) return null;
  const { column, rest } = indented(line, levels);
  const key = KEY.exec(rest);
  if (key === null) return null;
  leave(levels, column);
  const name = unquoted(key[1] ?? "");
  const same = levels.at(-1);
  if (same?.column === column) {
    same.at = name;
    same.keys.push(name);
  } else levels.push({ column, at: name, keys: [name] });
  const value = rest.slice(key[0].length).replace(/^\s+/, "");
  return { text: value, from: line.length - value.length, column };
}

/** Takes in the dashes of items: each is a level of its own. */
function indented(line: string, levels: Level[]): { column: number; rest: string } {
  let rest = line.trimStart();
  let column = line.length - rest.length;
  for (let dash = ITEM.exec(rest); dash !== null; dash = ITEM.exec(rest)) {
    while ((levels.at(-1)?.column ?? -1) > column) levels.pop();
    const same = levels.at(-1);
    if (same !== undefined && same.column === column && typeof same.at === "number") same.at += 1;
    else levels.push({ column, at: 0, keys: [] });
    rest = rest.slice(dash[0].length);
    column += Math.max(2, dash[0].length);
  }
  return { column, rest };
}

/** Ends the levels that a key at this column does not belong to. */
function leave(levels: Level[], column: number): void {
  for (let last = levels.at(-1); last !== undefined; last = levels.at(-1)) {
    if (last.column < column || (last.column === column && typeof last.at === "string")) return;
    levels.pop();
  }
}

function keysBelow(text: string, at: number, column: number): string[] {
  const keys: string[] = [];
  const end = text.indexOf("\n", at);
  if (end < 0) return keys;
  for (const line of text.slice(end + 1).split("\n")) {
    if (/^\s*(#|$)/.test(line)) continue;
    const own = line.length - line.trimStart().length;
    if (own < column) break;
    const key = own === column ? KEY.exec(line.trimStart()) : null;
    if (own === column && key === null) break;
    if (key !== null) keys.push(unquoted(key[1] ?? ""));
  }
  return keys;
}

/** The start of the first line after a text of many lines. */
function afterText(text: string, offset: number, column: number): number {
  let next = offset;
  while (next < text.length) {
    const line = lineAt(text, next);
    if (line.trim() !== "" && line.length - line.trimStart().length <= column) break;
    next += line.length + 1;
  }
  return next;
}

/** The start of the line after a value in braces or brackets. */
function afterFlow(text: string, open: number): number {
  let depth = 0;
  for (let next = open; next < text.length; next += 1) {
    const char = text[next] ?? "";
    if ("{[".includes(char)) depth += 1;
    if ("}]".includes(char)) depth -= 1;
    if (depth === 0) return next + lineAt(text, next).length + 1;
  }
  return text.length + 1;
}

function lineAt(text: string, offset: number): string {
  const end = text.indexOf("\n", offset);
  return text.slice(offset, end < 0 ? text.length : end);
}

function pathOf(levels: readonly Level[]): Step[] {
  return levels.map(({ at }) => at);
}

function unquoted(name: string): string {
  return /^["']/.test(name) ? name.slice(1, -1) : name;
}
