/** The cursor in JSON, and in the parts of YAML that are written like it: braces and brackets. */
import type { Place, Step } from "./place";

interface Box {
  /** Null in an array. */
  keys: string[] | null;
  key: string | null;
  index: number;
  /** What may come: a name, a value, or nothing before the next comma. */
  wants: "key" | "value" | "end";
}

interface Token {
  text: string;
  from: number;
  /** After its last character, its quote included. */
  to: number;
  isClosed: boolean;
}

/** `open` is where the outermost value begins. Null where nothing can be proposed, also after its end. */
export function flowPlace(text: string, open: number, at: number, base: readonly Step[], quoted: boolean): Place | null {
  const boxes: Box[] = [];
  let next = open;
  while (next < at) {
    const char = text[next] ?? "";
    if (/[\s]/.test(char)) next += 1;
    else if ("{}[],:".includes(char)) {
      if (!take(char, boxes)) return null;
      next += 1;
    } else {
      const token = tokenAt(text, next);
      // A closed text ends with its quote: behind it nothing is typed any more.
      if (at < token.to || (at === token.to && !token.isClosed)) return placed(text, boxes, base, quoted, at, text.slice(token.from, at), token.to);
      hold(token.text, boxes);
      next = token.to;
    }
  }
  return placed(text, boxes, base, quoted, at, "", at);
}

/** False at the end of the outermost value. */
function take(char: string, boxes: Box[]): boolean {
  const box = boxes.at(-1);
  if (char === "{" || char === "[") {
    if (box !== undefined) box.wants = "end";
    boxes.push({ keys: char === "{" ? [] : null, key: null, index: 0, wants: char === "{" ? "key" : "value" });
  } else if (char === "}" || char === "]") {
    boxes.pop();
    return boxes.length > 0;
  } else if (box !== undefined && char === ",") {
    box.index += 1;
    box.key = null;
    box.wants = box.keys === null ? "value" : "key";
  } else if (box !== undefined && char === ":") box.wants = "value";
  return true;
}

function hold(text: string, boxes: Box[]): void {
  const box = boxes.at(-1);
  if (box === undefined) return;
  if (box.wants === "key" && box.keys !== null) {
    box.key = text;
    box.keys.push(text);
  }
  box.wants = "end";
}

function placed(text: string, boxes: readonly Box[], base: readonly Step[], quoted: boolean, at: number, typed: string, end: number): Place | null {
  const box = boxes.at(-1);
  if (box === undefined || box.wants === "end") return null;
  const outer = boxes.slice(0, -1).map(({ key, index }) => key ?? index);
  const shared = { typed, from: at - typed.length, quoted, column: null };
  if (box.wants === "key") return { ...shared, path: [...base, ...outer], slot: "key", present: [...(box.keys ?? []), ...keysAfter(text, end)] };
  return { ...shared, path: [...base, ...outer, box.key ?? box.index], slot: "value", present: [] };
}

/** The keys that follow in the same object. */
function keysAfter(text: string, from: number): string[] {
  const keys: string[] = [];
  let depth = 0;
  let last: string | null = null;
  for (let next = from; next < text.length; ) {
    const char = text[next] ?? "";
    if ("{}[],:".includes(char) || /\s/.test(char)) {
      if ("}]".includes(char)) depth -= 1;
      if ("{[".includes(char)) depth += 1;
      if (depth < 0) break;
      if (char === ":" && depth === 0 && last !== null) keys.push(last);
      if (!/\s/.test(char)) last = null;
      next += 1;
    } else {
      const token = tokenAt(text, next);
      if (depth === 0) last = token.text;
      next = token.to;
    }
  }
  return keys;
}

function tokenAt(text: string, start: number): Token {
  const quote = text[start];
  if (quote !== '"' && quote !== "'") {
    const [word = ""] = /^[^\s{}[\],:]+(?::(?![\s,}\]])[^\s{}[\],:]*)*/.exec(text.slice(start, start + 500)) ?? [];
    return { text: word, from: start, to: start + Math.max(1, word.length), isClosed: false };
  }
  let next = start + 1;
  while (next < text.length && text[next] !== quote && text[next] !== "\n") next += text[next] === "\\" ? 2 : 1;
  const isClosed = text[next] === quote;
  return { text: text.slice(start + 1, next), from: start + 1, to: isClosed ? next + 1 : next, isClosed };
}
