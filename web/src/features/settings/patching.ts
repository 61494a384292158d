/** A unified diff as the hunks that are drawn. */
import type { PatchHunk } from "@/ui";

const HEAD = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/;

export function hunksOf(diff: string): PatchHunk[] {
  const hunks: PatchHunk[] = [];
  let [old, now] = [0, 0];
  for (const line of diff.split("\n")) {
    const head = HEAD.exec(line);
    if (head !== null) {
      [old, now] = [Number(head[1]), Number(head[2])];
      hunks.push({ old_start: old, new_start: now, heading: head[3] ?? "", lines: [] });
      continue;
    }
    const sign = line.charAt(0);
    const hunk = hunks.at(-1);
    if (hunk === undefined || !(sign === "+" || sign === "-" || sign === " ")) continue;
    hunk.lines.push({ sign, old_number: sign === "+" ? null : old++, new_number: sign === "-" ? null : now++, text: line.slice(1) });
  }
  return hunks;
}
