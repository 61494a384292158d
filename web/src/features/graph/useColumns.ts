import { useEffect, useState, type RefObject } from "react";

/** From these widths on there is room for the time, the id and the author. */
const WIDTHS = [448, 576, 672];

/** How many columns fit beside the words of a commit. Measured once for all rows, not by each. */
export function useColumns(box: RefObject<HTMLElement | null>): number {
  const [columns, setColumns] = useState(WIDTHS.length);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const look = () => setColumns(WIDTHS.filter((width) => element.clientWidth >= width).length);
    look();
    const watcher = new ResizeObserver(look);
    watcher.observe(element);
    return () => watcher.disconnect();
  }, [box]);
  return columns;
}
