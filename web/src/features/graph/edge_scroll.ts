/** Lists marked with data-edge-scroll move on while something is held near their upper or lower end. */

const NEAR = 48;
const FASTEST = 18;

/** Pixels for one frame: faster the nearer the end, fastest beyond it. Nothing in the middle. */
export function edgeStep(y: number, top: number, bottom: number): number {
  const near = Math.min(NEAR, (bottom - top) / 4);
  const into = y < top + near ? y - top - near : y > bottom - near ? y - bottom + near : 0;
  return Math.round(Math.max(-1, Math.min(1, into / near)) * FASTEST);
}

/** Moves the list that the pointer is over, above or below; whether it moved. */
export function scrollAtEdge(x: number, y: number): boolean {
  for (const list of document.querySelectorAll("[data-edge-scroll]")) {
    const { left, right, top, bottom } = list.getBoundingClientRect();
    if (x < left || x > right) continue;
    const before = list.scrollTop;
    list.scrollTop += edgeStep(y, top, bottom);
    if (list.scrollTop !== before) return true;
  }
  return false;
}
