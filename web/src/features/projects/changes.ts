/** A unified diff as lines to show. */

export interface ChangedLine {
  kind: "same" | "added" | "removed" | "gap";
  text: string;
  old: number | null;
  new: number | null;
}

export function changedLines(diff: string): ChangedLine[] {
  const lines: ChangedLine[] = [];
  let [before, after] = [0, 0];
  let inside = false;
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (hunk) {
      [before, after] = [Number(hunk[1]), Number(hunk[2])];
      if (inside) lines.push({ kind: "gap", text: "", old: null, new: null });
      inside = true;
    } else if (inside && line.startsWith("+")) {
      lines.push({ kind: "added", text: line.slice(1), old: null, new: after++ });
    } else if (inside && line.startsWith("-")) {
      lines.push({ kind: "removed", text: line.slice(1), old: before++, new: null });
    } else if (inside && !line.startsWith("\\")) {
      lines.push({ kind: "same", text: line.slice(1), old: before++, new: after++ });
    }
  }
  return lines;
}
