/** Which rows of one height are near the visible part. However many there are, a step through them costs the same. */
import { startTransition, useLayoutEffect, useRef, useState, type RefObject } from "react";

import { useSteady } from "@/lib/steady";

/** Rows come and go so many at a time: that is seldom enough to cost little, and often enough to be only a few. */
const STEP = 4;
const AT_FIRST = 40;
/** More new rows than this in one frame would be felt. */
const MOST_NEW = 24;

export interface FixedRowsParts {
  /** What scrolls. */
  box: RefObject<HTMLElement | null>;
  count: number;
  height: number;
  /** Rows that are there before they are seen. */
  ahead?: number;
}

export interface FixedRows {
  first: number;
  /** -1 where there are none. */
  last: number;
  /** Pixels of all of them. */
  total: number;
  /** Scrolls as little as needed to see this one. */
  show: (index: number) => void;
  /** A name for the element of a row. Those that left are used for those that came, which is quicker than to make new ones. */
  slot: (index: number) => number;
}

interface Seen {
  top: number;
  rows: number;
  /** Of a row, when this was so. */
  height: number;
}

function seenIn(box: HTMLElement, height: number): Seen {
  const top = Math.floor(box.scrollTop / height / STEP) * STEP;
  const rows = box.clientHeight === 0 ? AT_FIRST : Math.ceil(box.clientHeight / height / STEP + 1) * STEP;
  return { top, rows, height };
}

function scroll(box: HTMLElement, top: number): void {
  box.scrollTop = top;
}

export function useFixedRows({ box, count, height, ahead = 8 }: FixedRowsParts): FixedRows {
  const [seen, setSeen] = useState<Seen>({ top: 0, rows: AT_FIRST, height });
  const before = useRef(height);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    // Seen from nearer or farther, the same row stays at the upper edge.
    const isAnother = before.current !== height;
    if (isAnother) scroll(element, (element.scrollTop / before.current) * height);
    before.current = height;
    let frame = 0;
    let rows = isAnother ? 0 : AT_FIRST - MOST_NEW;
    const look = () => {
      const next = seenIn(element, height);
      rows = Math.min(next.rows, rows + MOST_NEW);
      const some = { ...next, rows };
      setSeen((now) => (now.top === some.top && now.rows === some.rows && now.height === height ? now : some));
      cancelAnimationFrame(frame);
      if (rows < next.rows) frame = requestAnimationFrame(() => startTransition(look));
    };
    // Where nobody waits for it, as while scrolling, it is done in pieces.
    startTransition(look);
    const watcher = new ResizeObserver(() => startTransition(look));
    watcher.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      cancelAnimationFrame(frame);
      watcher.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [box, height]);

  const { show } = useSteady({
    show: (index: number) => {
      const element = box.current;
      if (element === null) return;
      const top = index * height;
      if (top < element.scrollTop) scroll(element, top);
      else if (top + height > element.scrollTop + element.clientHeight) scroll(element, top + height - element.clientHeight);
    },
  });
  // Rows of another height are all drawn anew.
  const slots = (seen.height === height ? seen.rows : Math.min(seen.rows, MOST_NEW)) + 2 * ahead;
  const first = Math.max(0, Math.min(seen.top - ahead, count - slots));
  return { first, last: Math.min(count, first + slots) - 1, total: count * height, show, slot: (index) => index % slots };
}
