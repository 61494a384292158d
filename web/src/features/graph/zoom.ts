/** How near one looks at the graph: from its shape alone to two lines for each commit. */

export interface Zoom {
  name: string;
  rowHeight: number;
  laneWidth: number;
  /** Whether rows have words; without them only the shape is seen. */
  words: boolean;
}

export const ZOOMS: readonly Zoom[] = [
  { name: "Shape only", rowHeight: 6, laneWidth: 8, words: false },
  { name: "Dense", rowHeight: 20, laneWidth: 12, words: true },
  { name: "Normal", rowHeight: 28, laneWidth: 16, words: true },
  { name: "Roomy", rowHeight: 44, laneWidth: 20, words: true },
];

export const USUAL_ZOOM = 2;

export function zoomAt(level: number): Zoom {
  return ZOOMS[clampZoom(level)] ?? { name: "Normal", rowHeight: 28, laneWidth: 16, words: true };
}

export function clampZoom(level: number): number {
  return Math.max(0, Math.min(ZOOMS.length - 1, Math.round(level)));
}
