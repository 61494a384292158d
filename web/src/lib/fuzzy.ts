/** Fuzzy matching of typed letters against names and paths, good at a hundred thousand of them. */

export interface Match {
  score: number;
  /** Indexes of the matched characters. */
  at: number[];
}

const BOUNDARY = /[\s/_\-.:]/;

/** Null where the letters do not occur in order. Whole words and starts of words count more. */
export function fuzzy(query: string, text: string): Match | null {
  const wanted = query.toLowerCase().replaceAll(" ", "");
  if (wanted === "") return { score: 0, at: [] };
  const lower = text.toLowerCase();
  const together = lower.lastIndexOf(wanted);
  const at = together >= 0 ? run(together, wanted.length) : fromTheEnd(wanted, lower);
  return at === null ? null : { score: scored(at, text, together >= 0), at };
}

function run(start: number, length: number): number[] {
  return Array.from({ length }, (_, i) => start + i);
}

/** From the end on, so that the name of a file is matched before its folders. */
function fromTheEnd(wanted: string, lower: string): number[] | null {
  const at: number[] = new Array<number>(wanted.length);
  let place = lower.length;
  for (let i = wanted.length - 1; i >= 0; i--) {
    place = lower.lastIndexOf(wanted.charAt(i), place - 1);
    if (place < 0 || (place === 0 && i > 0)) return null;
    at[i] = place;
  }
  return at;
}

function scored(at: number[], text: string, together: boolean): number {
  const name = text.lastIndexOf("/") + 1;
  let score = together ? 40 + at.length * 4 : 0;
  at.forEach((place, i) => {
    if (place === 0 || BOUNDARY.test(text.charAt(place - 1))) score += 10;
    if (i > 0 && place === (at[i - 1] ?? -2) + 1) score += 4;
    if (place >= name) score += 3;
  });
  return score - text.length / 50;
}

/** The best matches first, at most `limit` of them. An empty query keeps the order. */
export function ranked<T>(query: string, items: readonly T[], text: (item: T) => string, limit = 200): { item: T; match: Match }[] {
  const found: { item: T; match: Match }[] = [];
  for (const item of items) {
    const match = fuzzy(query, text(item));
    if (match !== null) found.push({ item, match });
    if (query === "" && found.length >= limit) break;
  }
  if (query !== "") found.sort((a, b) => b.match.score - a.match.score);
  return found.slice(0, limit);
}
