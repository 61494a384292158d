/** All paths of a branch, ready to be searched at every keystroke: a hundred thousand of them within 50 ms. */
import { fuzzy } from "@/lib/fuzzy";

export interface FoundPath {
  path: string;
  /** Indexes of the matched characters. */
  at: number[];
}

const BETTER_IN_NAME = 60;
const AT_START = 24;

/** One bit for each letter or digit that occurs: most paths are ruled out by one look. */
function lettersOf(text: string): number {
  let bits = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= 97 && code <= 122) bits |= 1 << (code - 97);
    else if (code >= 48 && code <= 57) bits |= 1 << 26;
  }
  return bits;
}

export class PathIndex {
  private readonly paths: string[] = [];
  private readonly lower: string[] = [];
  private readonly letters: number[] = [];
  private last: { query: string; hits: number[] } | null = null;

  get size(): number {
    return this.paths.length;
  }

  add(paths: readonly string[]): void {
    for (const path of paths) {
      const lower = path.toLowerCase();
      this.paths.push(path);
      this.lower.push(lower);
      this.letters.push(lettersOf(lower));
    }
    this.last = null;
  }

  /** The best first. `recent` ones come before others that match as well. */
  find(query: string, recent: ReadonlyMap<string, number>, limit: number): FoundPath[] {
    const wanted = query.toLowerCase().replaceAll(" ", "");
    if (wanted === "") return this.first(recent, limit);
    const hits = this.hits(wanted);
    const best = new Best(limit);
    for (const hit of hits) {
      const path = this.paths[hit] ?? "";
      const place = recent.size === 0 ? undefined : recent.get(path);
      best.offer(hit, this.score(hit, wanted) + (place === undefined ? 0 : 50 - place));
    }
    return best.inOrder().map((hit) => {
      const path = this.paths[hit] ?? "";
      return { path, at: fuzzy(wanted, path)?.at ?? [] };
    });
  }

  private first(recent: ReadonlyMap<string, number>, limit: number): FoundPath[] {
    const known = new Set(this.paths);
    const before = [...recent.keys()].filter((path) => known.has(path));
    const rest = this.paths.slice(0, limit + before.length).filter((path) => !recent.has(path));
    return [...before, ...rest].slice(0, limit).map((path) => ({ path, at: [] }));
  }

  /** A longer query matches only what the shorter one did. */
  private hits(wanted: string): number[] {
    const before = this.last !== null && wanted.startsWith(this.last.query) ? this.last.hits : null;
    const bits = lettersOf(wanted);
    const hits: number[] = [];
    const count = before?.length ?? this.paths.length;
    for (let i = 0; i < count; i++) {
      const at = before === null ? i : (before[i] ?? 0);
      if (((this.letters[at] ?? 0) & bits) === bits && inOrder(wanted, this.lower[at] ?? "")) hits.push(at);
    }
    this.last = { query: wanted, hits };
    return hits;
  }

  /** Without building anything: the whole word in the name, then in the path, then the letters in the name, then anywhere. */
  private score(hit: number, wanted: string): number {
    const text = this.lower[hit] ?? "";
    const name = text.lastIndexOf("/") + 1;
    const together = text.lastIndexOf(wanted);
    let score = -text.length / 50;
    if (together >= name) score += 2 * BETTER_IN_NAME + (together === name ? AT_START : 0) + (text.length - name === wanted.length ? AT_START : 0);
    else if (together >= 0) score += BETTER_IN_NAME;
    else if (inOrder(wanted, text.slice(name))) score += BETTER_IN_NAME / 2 + starts(wanted, text, name);
    else score += starts(wanted, text, 0);
    return score;
  }
}

function inOrder(wanted: string, text: string): boolean {
  let place = -1;
  for (let i = 0; i < wanted.length; i++) {
    place = text.indexOf(wanted.charAt(i), place + 1);
    if (place < 0) return false;
  }
  return true;
}

/** How many of the letters begin a word: "fvt" finds file_view.test. */
function starts(wanted: string, text: string, from: number): number {
  let found = 0;
  for (let place = from, i = 0; place < text.length && i < wanted.length; place++) {
    const before = place === from ? 47 : text.charCodeAt(place - 1);
    const boundary = before === 47 || before === 95 || before === 45 || before === 46;
    if (boundary && text.charCodeAt(place) === wanted.charCodeAt(i)) {
      found += 6;
      i++;
    }
  }
  return found;
}

/** Keeps the highest few of many. */
class Best {
  private kept: { hit: number; score: number }[] = [];
  private least = -Infinity;

  constructor(private readonly limit: number) {}

  offer(hit: number, score: number): void {
    if (score <= this.least) return;
    this.kept.push({ hit, score });
    if (this.kept.length >= this.limit * 4) this.cut();
  }

  inOrder(): number[] {
    this.cut();
    return this.kept.map((each) => each.hit);
  }

  private cut(): void {
    this.kept.sort((a, b) => b.score - a.score || a.hit - b.hit);
    this.kept.length = Math.min(this.kept.length, this.limit);
    if (this.kept.length === this.limit) this.least = this.kept.at(-1)?.score ?? -Infinity;
  }
}
