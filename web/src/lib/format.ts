/** Numbers, times, sizes and paths as people read them. */

const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** Seconds since 1970, as the API gives them, or an ISO date. */
export type Time = number | string;

export function milliseconds(time: Time): number {
  return typeof time === "number" ? time * 1000 : Date.parse(time);
}

/** There are few of these words, and lists ask for them often. */
const said = new Map<string, string>();

function inWords(number: number, unit: Intl.RelativeTimeFormatUnit): string {
  const key = `${number}${unit}`;
  const known = said.get(key) ?? RELATIVE.format(number, unit);
  said.set(key, known);
  return known;
}

export function relativeTime(time: Time, now: number = Date.now()): string {
  const seconds = (milliseconds(time) - now) / 1000;
  const step = STEPS.find(([, size]) => Math.abs(seconds) >= size);
  return step === undefined ? "now" : inWords(Math.trunc(seconds / step[1]), step[0]);
}

export function exactTime(time: Time): string {
  return EXACT.format(milliseconds(time));
}

/** 75 → "1:15", 3675 → "1:01:15". */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (n: number) => String(n).padStart(2, "0");
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

/** 0.004 → "$0.004", 0.41 → "$0.41"; unknown prices are a dash. */
export function cost(dollars: number | null | undefined): string {
  if (dollars === null || dollars === undefined) return "–";
  if (dollars === 0) return "$0";
  return `$${dollars.toFixed(dollars < 0.1 ? 3 : 2)}`;
}

/** 8130 → "8.1k". */
export function count(number: number): string {
  if (number < 1000) return String(number);
  const [size, unit] = number < 999_950 ? ([1e3, "k"] as const) : ([1e6, "M"] as const);
  return `${(number / size).toFixed(1).replace(/\.0$/, "")}${unit}`;
}

export function byteSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["kB", "MB", "GB", "TB"];
  const power = Math.min(Math.floor(Math.log10(bytes) / 3), units.length);
  const value = bytes / 1000 ** power;
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[power - 1] ?? "B"}`;
}

export function shortId(commit: string): string {
  return commit.slice(0, 7);
}

export function plural(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** 8130 → "8.1k tokens", 1 → "1 token". */
export function counted(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** Files of conversations that go along with a change. */
export interface Brought {
  turns: number;
  summaries: number;
  files: number;
}

/** "conversation of 5 turns, 6 files in .forge/". */
export function brought({ turns, summaries, files }: Brought): string {
  const what = summaries === files ? "summary of a conversation" : `conversation of ${plural(turns, "turn")}`;
  return `${what}, ${plural(files, "file")} in .forge/`;
}

/** Keeps the beginning and the name at the end: "src/…/deep/name.ts". */
export function shortPath(path: string, most: number): string {
  if (path.length <= most) return path;
  const parts = path.split("/");
  const name = parts.at(-1) ?? path;
  if (name.length + 2 >= most) return `…${name.slice(Math.max(0, name.length - most + 1))}`;
  let tail = name;
  for (let i = parts.length - 2; i > 0; i--) {
    const longer = `${parts[i] ?? ""}/${tail}`;
    if (longer.length + (parts[0]?.length ?? 0) + 3 > most) break;
    tail = longer;
  }
  const whole = `${parts[0] ?? ""}/…/${tail}`;
  return whole.length <= most ? whole : `…/${tail}`;
}
