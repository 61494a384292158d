/** A file with conflict markers, taken apart and put together again. */

export interface Same {
  same: string;
}

/** Both sides of one place, with their line breaks. */
export interface Clash {
  ours: string;
  base: string | null;
  theirs: string;
}

export type Segment = Same | Clash;

/** Which side a clash shall have; `text` where somebody wrote it. */
export type Choice = "ours" | "theirs" | "both" | { text: string };

const START = /^<{7}( .*)?\r?$/;
const BASE = /^\|{7}( .*)?\r?$/;
const MIDDLE = /^={7}\r?$/;
const END = /^>{7}( .*)?\r?$/;

export function isClash(segment: Segment): segment is Clash {
  return "ours" in segment;
}

export function hasMarkers(text: string): boolean {
  return /^(<{7}|>{7})( |\r?$)/m.test(text);
}

export function segmentsOf(marked: string): Segment[] {
  const found: Segment[] = [];
  let part: "same" | "ours" | "base" | "theirs" = "same";
  let same = "";
  let clash: Clash = { ours: "", base: null, theirs: "" };
  for (const line of marked.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const bare = line.replace(/\n$/, "");
    if (part === "same" && START.test(bare)) {
      if (same !== "") found.push({ same });
      same = "";
      clash = { ours: "", base: null, theirs: "" };
      part = "ours";
    } else if (part === "ours" && BASE.test(bare)) {
      clash.base = "";
      part = "base";
    } else if ((part === "ours" || part === "base") && MIDDLE.test(bare)) part = "theirs";
    else if (part === "theirs" && END.test(bare)) {
      found.push(clash);
      part = "same";
    } else if (part === "same") same += line;
    else clash[part] = (clash[part] ?? "") + line;
  }
  if (same !== "") found.push({ same });
  return found;
}

export function chosenText(clash: Clash, choice: Choice): string {
  if (typeof choice === "object") return choice.text;
  if (choice === "both") return ended(clash.ours) + clash.theirs;
  return clash[choice];
}

function ended(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

/** The whole file; null while a clash has no choice. */
export function joined(segments: readonly Segment[], choices: Readonly<Record<number, Choice>>): string | null {
  let text = "";
  for (const [i, segment] of segments.entries()) {
    if (isClash(segment)) {
      const choice = choices[i];
      if (choice === undefined) return null;
      text += chosenText(segment, choice);
    } else text += segment.same;
  }
  return text;
}
