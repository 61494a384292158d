/** Line breaks are kept as they are: "\r\n" where every line ends so, otherwise "\n", and a lone "\r" is a character. */
import { Text } from "@codemirror/state";

export function lineBreakOf(text: string): "\r\n" | "\n" {
  const all = text.split("\n").length - 1;
  return all > 0 && text.split("\r\n").length - 1 === all ? "\r\n" : "\n";
}

export function asText(text: string, lineBreak: string): Text {
  return Text.of(text.split(lineBreak));
}

/** The one stretch that differs; null where nothing does. */
export function difference(before: Text, after: Text): { from: number; to: number; insert: Text } | null {
  if (before.eq(after)) return null;
  const [a, b] = [before.toString(), after.toString()];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  return { from: start, to: a.length - end, insert: after.slice(start, b.length - end) };
}
