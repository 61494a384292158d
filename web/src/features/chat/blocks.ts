/** Markdown cut into blocks that can be rendered on their own, so that a growing text renders only its last one. */

export type Block = { kind: "prose"; text: string } | { kind: "code"; text: string; language: string; closed: boolean };

const FENCE = /^ {0,3}(`{3,}|~{3,})\s*([^\s`]*)[^`]*$/;
const LIST_ITEM = /^\s*([-*+]|\d+[.)])\s/;
const TABLE_ROW = /^\s*\|/;

/** A blank line ends a block unless the list or the indented text that it stands in continues. */
function goesOn(block: readonly string[], next: string): boolean {
  const first = block[0] ?? "";
  return LIST_ITEM.test(first) && (LIST_ITEM.test(next) || /^\s{2,}\S/.test(next));
}

export function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  let prose: string[] = [];
  let blank = 0;
  const close = () => {
    if (prose.length > 0) blocks.push({ kind: "prose", text: prose.join("\n") });
    prose = [];
    blank = 0;
  };
  const lines = text.split("\n");
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] ?? "";
    const fence = FENCE.exec(line);
    if (fence) {
      close();
      const mark = fence[1] ?? "```";
      const end = lines.findIndex((other, at) => at > i && isEnd(other, mark));
      const inside = lines.slice(i + 1, end < 0 ? undefined : end);
      blocks.push({ kind: "code", text: inside.join("\n"), language: fence[2] ?? "", closed: end >= 0 });
      i = end < 0 ? lines.length : end;
    } else if (line.trim() === "") {
      blank += 1;
    } else {
      if (blank > 0 && prose.length > 0) {
        if (goesOn(prose, line)) prose.push(...Array<string>(blank).fill(""));
        else close();
      }
      blank = 0;
      prose.push(line);
    }
  }
  close();
  return blocks;
}

function isEnd(line: string, mark: string): boolean {
  const found = line.trim();
  return found.startsWith(mark) && found.replaceAll(mark.charAt(0), "") === "";
}

/** While a table's head is being written its second line decides what it is; until then it would flicker as text. */
export function isHalfTable(text: string): boolean {
  const lines = text.split("\n");
  return TABLE_ROW.test(lines[0] ?? "") && lines.length < 2;
}
