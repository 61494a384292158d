import { useEffect, useLayoutEffect, useRef } from "react";

import type { GraphRow } from "@/api";
import { tokenColor, useShownTheme } from "@/ui";

import { draw, type Palette, type Size } from "./draw";

export interface LaneCanvasProps {
  rows: readonly GraphRow[];
  /** The row at the upper edge, and how many follow. */
  first: number;
  count: number;
  width: number;
  size: Size;
}

function readPalette(): Palette {
  return {
    lanes: Array.from({ length: 8 }, (_, i) => tokenColor(`lane-${i}`)),
    surface: tokenColor("surface-0"),
    muted: tokenColor("muted"),
  };
}

/** Moves with the rows, so that lines and words never part while scrolling; drawn anew when the rows change. */
export function LaneCanvas({ rows, first, count, width, size }: LaneCanvasProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const palette = useRef<Palette>(undefined);
  const theme = useShownTheme();
  const height = count * size.rowHeight;
  const { rowHeight, laneWidth, pan } = size;

  const paint = () => {
    const element = canvas.current;
    const context = element?.getContext("2d");
    if (!element || !context) return;
    palette.current ??= readPalette();
    const scale = Math.min(window.devicePixelRatio || 1, 2);
    // Setting the size empties a canvas and takes memory anew, so it is done only where it differs.
    const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
    if (element.width !== wide) element.width = wide;
    if (element.height !== high) element.height = high;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    draw(context, rows, first, count, { rowHeight, laneWidth, pan }, palette.current);
  };
  useLayoutEffect(paint, [rows, first, count, width, height, rowHeight, laneWidth, pan]);
  useEffect(() => {
    // The page has its new colours by now.
    palette.current = readPalette();
    paint();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- the rest is painted above
  }, [theme]);

  return (
    <canvas
      ref={canvas}
      aria-hidden
      className="pointer-events-none absolute left-0"
      style={{ top: first * size.rowHeight, width, height }}
    />
  );
}
