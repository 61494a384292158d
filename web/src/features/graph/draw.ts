/** Draws the lanes of some rows on a canvas. */
import type { GraphRow } from "@/api";

import { isByAgent } from "./labels";

export interface Size {
  rowHeight: number;
  laneWidth: number;
  /** How far the lanes are moved to the left. */
  pan: number;
}

export interface Palette {
  lanes: string[];
  surface: string;
  muted: string;
}

export const EDGE = 14;

export function laneX(lane: number, { laneWidth, pan }: Size): number {
  return EDGE + lane * laneWidth - pan;
}

/** `first` is the row at the upper edge; the row before it is needed for its lines. */
export function draw(context: CanvasRenderingContext2D, rows: readonly GraphRow[], first: number, count: number, size: Size, palette: Palette): void {
  const { width, height } = context.canvas;
  const scale = context.getTransform().a;
  context.clearRect(0, 0, width / scale, height / scale);
  const lines = palette.lanes.map(() => new Path2D());
  const faded = new Path2D();
  for (let i = Math.max(0, first - 1); i < Math.min(rows.length, first + count); i++) {
    const row = rows[i];
    if (row === undefined) continue;
    const y = (i - first + 0.5) * size.rowHeight;
    for (const edge of row.edges) {
      const straight = edge.from_lane === edge.to_lane;
      const lane = straight || edge.from_lane !== row.lane || edge.parent === row.parents[0] ? edge.from_lane : edge.to_lane;
      const path = row.abandoned && edge.from_lane === row.lane ? faded : lines[lane % lines.length];
      if (path) line(path, laneX(edge.from_lane, size), laneX(edge.to_lane, size), y, size.rowHeight);
    }
  }
  context.lineWidth = size.rowHeight < 16 ? 1.25 : 1.75;
  lines.forEach((path, i) => {
    context.strokeStyle = palette.lanes[i] ?? palette.muted;
    context.stroke(path);
  });
  context.strokeStyle = palette.muted;
  context.setLineDash([3, 3]);
  context.stroke(faded);
  context.setLineDash([]);
  for (let i = first; i < Math.min(rows.length, first + count); i++) {
    const row = rows[i];
    if (row) dot(context, row, (i - first + 0.5) * size.rowHeight, size, palette);
  }
}

function line(path: Path2D, from: number, to: number, y: number, height: number): void {
  path.moveTo(from, y);
  if (from === to) path.lineTo(to, y + height);
  else path.bezierCurveTo(from, y + height * 0.6, to, y + height * 0.4, to, y + height);
}

/** A disc; a ring for merges; a diamond for turns of agents; hollow and grey where no branch leads. */
function dot(context: CanvasRenderingContext2D, row: GraphRow, y: number, size: Size, palette: Palette): void {
  const x = laneX(row.lane, size);
  const radius = size.rowHeight < 10 ? 2 : size.rowHeight < 22 ? 3.5 : 4.5;
  const color = row.abandoned ? palette.muted : (palette.lanes[row.lane % palette.lanes.length] ?? palette.muted);
  context.beginPath();
  if (isByAgent(row.author)) {
    const wide = radius * 1.35;
    context.moveTo(x, y - wide);
    context.lineTo(x + wide, y);
    context.lineTo(x, y + wide);
    context.lineTo(x - wide, y);
    context.closePath();
  } else {
    context.arc(x, y, radius, 0, Math.PI * 2);
  }
  const hollow = row.abandoned || row.parents.length > 1;
  context.fillStyle = hollow ? palette.surface : color;
  context.strokeStyle = hollow ? color : palette.surface;
  context.lineWidth = 1.75;
  context.fill();
  // Seen from afar, the gap around a dot would cut the line.
  if (hollow || size.rowHeight >= 10) context.stroke();
}
