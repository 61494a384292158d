/** Which turns of a long conversation are drawn: those near the visible part at once, the others when there is time. */
import { useEffect, useState, type RefObject } from "react";

const NEAR = "1500px 0px";
const AT_ONCE = 4;
const NONE: ReadonlySet<string> = new Set();

const idly: (run: () => void) => () => void =
  typeof requestIdleCallback === "undefined"
    ? (run) => {
        const timer = setTimeout(run, 50);
        return () => clearTimeout(timer);
      }
    : (run) => {
        const asked = requestIdleCallback(run);
        return () => cancelIdleCallback(asked);
      };

/** The newest that are not drawn yet. */
export function nextDrawn(marks: readonly string[], drawn: ReadonlySet<string>, count: number): string[] {
  const found: string[] = [];
  for (let i = marks.length - 1; i >= 0 && found.length < count; i--) {
    const mark = marks[i];
    if (mark !== undefined && !drawn.has(mark)) found.push(mark);
  }
  return found;
}

/** `marks` oldest first. Those that are not drawn are elements of `box` with their mark as `data-far`. */
export function useDrawn(box: RefObject<HTMLElement | null>, marks: readonly string[], atFirst: number): (mark: string) => boolean {
  const [drawn, setDrawn] = useState(NONE);
  const [start] = useState(() => new Set(marks.slice(-atFirst)));
  const add = (more: readonly string[]) => setDrawn((before) => new Set([...before, ...more]));
  const isDrawn = (mark: string) => drawn.has(mark) || start.has(mark);

  useEffect(() => {
    const root = box.current;
    if (root === null || typeof IntersectionObserver === "undefined") return;
    const watcher = new IntersectionObserver(
      (entries) => {
        const near = entries.flatMap(({ isIntersecting, target }) => (isIntersecting ? [(target as HTMLElement).dataset["far"] ?? ""] : []));
        if (near.length > 0) add(near);
      },
      { root, rootMargin: NEAR },
    );
    root.querySelectorAll("[data-far]").forEach((element) => watcher.observe(element));
    return () => watcher.disconnect();
  }, [box, marks]);

  useEffect(() => {
    const known = new Set([...start, ...drawn]);
    const next = nextDrawn(marks, known, AT_ONCE);
    return next.length === 0 ? undefined : idly(() => add(next));
  }, [marks, drawn, start]);

  return isDrawn;
}
