/** What a person asks for in the search panel, as the server takes it. */
import type { SearchWish } from "@/api";

export interface SearchForm {
  pattern: string;
  regex: boolean;
  matchCase: boolean;
  wholeWord: boolean;
  /** Globs with commas between them. */
  include: string;
  exclude: string;
}

export const EMPTY: SearchForm = { pattern: "", regex: false, matchCase: false, wholeWord: false, include: "", exclude: "" };
const MOST = 500;

/** "*.py, docs" → ["*.py", "docs/**"]: a plain folder means all below it. */
export function globs(text: string): string[] {
  return text
    .split(/[,\n]/)
    .map((each) => each.trim().replace(/^\.?\//, ""))
    .filter((each) => each !== "")
    .map((each) => (/[*?[]/.test(each) || /\.[^/]+$/.test(each) ? each : `${each.replace(/\/$/, "")}/**`));
}

export function wishOf(form: SearchForm, branch: string): SearchWish {
  return {
    pattern: form.pattern,
    regex: form.regex,
    case: form.matchCase ? "sensitive" : "insensitive",
    whole_word: form.wholeWord,
    include: globs(form.include),
    exclude: globs(form.exclude),
    max_matches: MOST,
    branch,
  };
}

const SHOWN = 200;
/** A match further in than this would be out of sight in a narrow panel. */
const IN_SIGHT = 24;
const BEFORE = 12;

/** A line is cut to the part around its first match. */
export function shownLine(text: string, spans: readonly (readonly [number, number])[]): { text: string; spans: [number, number][] } {
  const indent = text.length - text.trimStart().length;
  const first = spans[0]?.[0] ?? 0;
  const from = first - indent > IN_SIGHT ? first - BEFORE : Math.min(indent, first);
  const cut = from > indent ? "…" : "";
  const kept = text.slice(from, from + SHOWN);
  const moved = spans
    .map(([start, end]): [number, number] => [start - from + cut.length, Math.min(end - from, SHOWN) + cut.length])
    .filter(([start, end]) => start >= 0 && start < end && start < SHOWN + cut.length);
  return { text: cut + kept, spans: moved };
}
