/** Which card the arrow keys lead to. Empty columns are stepped over. */

export interface Place {
  column: number;
  row: number;
}

type Lists = readonly (readonly string[])[];

export function place(lists: Lists, card: string): Place | null {
  const column = lists.findIndex((list) => list.includes(card));
  return column < 0 ? null : { column, row: lists[column]?.indexOf(card) ?? 0 };
}

export function moved(lists: Lists, { column, row }: Place, key: string): string | undefined {
  const list = lists[column] ?? [];
  switch (key) {
    case "ArrowDown":
      return list[row + 1];
    case "ArrowUp":
      return list[row - 1];
    case "Home":
      return list[0];
    case "End":
      return list.at(-1);
    case "ArrowRight":
      return beside(lists.slice(column + 1), row);
    case "ArrowLeft":
      return beside(lists.slice(0, column).reverse(), row);
  }
  return undefined;
}

function beside(lists: Lists, row: number): string | undefined {
  const list = lists.find((each) => each.length > 0);
  return list?.[Math.min(row, list.length - 1)];
}
