import { useEffect, useRef } from "react";
import Plot from "uplot";
import "uplot/dist/uPlot.min.css";

import { tokenColor, useShownTheme } from "@/ui";

import { SEVERITIES, verdict, type Round, type Severity } from "./rounds";

export interface PolishChartProps {
  rounds: readonly Round[];
  /** The most of each severity with which polishing may end. */
  limits: Readonly<Record<Severity, number>>;
}

const HEIGHT = 240;
const TOKENS: Record<Severity, string> = { critical: "bad", medium: "attention", minor: "running" };
const DASHES: Record<Severity, number[]> = { critical: [], medium: [6, 3], minor: [2, 3] };

/** Lines by severity, thresholds as bands, verdicts as marks. The table beside it says the same in words. */
export default function PolishChart({ rounds, limits }: PolishChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const theme = useShownTheme();
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    const plot = new Plot(options(rounds, limits, element.clientWidth), data(rounds), element);
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [rounds, limits, theme]);
  return <div ref={place} aria-hidden className="h-60 w-full overflow-hidden" />;
}

function data(rounds: readonly Round[]): Plot.AlignedData {
  return [rounds.map(({ iteration }) => iteration), ...SEVERITIES.map((name) => rounds.map((round) => round[name]))];
}

function options(rounds: readonly Round[], limits: PolishChartProps["limits"], width: number): Plot.Options {
  const [muted, line] = [tokenColor("muted"), tokenColor("line")];
  const most = Math.max(1, ...rounds.map((round) => Math.max(round.critical, round.medium, round.minor)), ...Object.values(limits));
  const axis = { stroke: muted, font: "12px system-ui", ticks: { stroke: line, width: 1 }, grid: { stroke: line, width: 1 } };
  const whole = (_: Plot, splits: number[]) => splits.map((value) => (Number.isInteger(value) ? String(value) : ""));
  return {
    width,
    height: HEIGHT,
    padding: [24, 12, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: false, range: [0.5, Math.max(2, rounds.at(-1)?.iteration ?? 1) + 0.5] },
      y: { range: [0, most + 1] },
    },
    axes: [
      { ...axis, grid: { show: false }, values: whole, incrs: [1, 2, 5, 10], label: "Round", labelFont: "12px system-ui", labelSize: 16, size: 28 },
      { ...axis, values: whole, incrs: [1, 2, 5, 10, 20, 50, 100], size: 36 },
    ],
    series: [
      {},
      ...SEVERITIES.map((name) => ({
        label: name,
        stroke: tokenColor(TOKENS[name]),
        width: 2,
        dash: DASHES[name],
        points: { show: true, size: 7, fill: tokenColor("surface-0") },
      })),
    ],
    hooks: { drawAxes: [(plot) => bands(plot, limits)], draw: [(plot) => marks(plot, rounds)] },
  };
}

function bands(plot: Plot, limits: PolishChartProps["limits"]): void {
  const { ctx } = plot;
  const { left, width } = plot.bbox;
  ctx.save();
  for (const name of SEVERITIES) {
    const top = plot.valToPos(limits[name], "y", true);
    const floor = plot.valToPos(0, "y", true);
    ctx.fillStyle = ctx.strokeStyle = tokenColor(TOKENS[name]);
    ctx.globalAlpha = 0.07;
    ctx.fillRect(left, top, width, floor - top);
    ctx.globalAlpha = 0.5;
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.strokeRect(left, top, width, 0);
  }
  ctx.restore();
}

/** At the top edge above its round: what ended polishing, or halted it. */
function marks(plot: Plot, rounds: readonly Round[]): void {
  const { ctx } = plot;
  ctx.save();
  ctx.font = `${12 * devicePixelRatio}px system-ui`;
  for (const round of rounds.filter(({ outcome }) => outcome !== "continue")) {
    const x = plot.valToPos(round.iteration, "x", true);
    const done = round.outcome === "done";
    ctx.strokeStyle = ctx.fillStyle = tokenColor(done ? "good" : "bad");
    ctx.lineWidth = devicePixelRatio;
    ctx.beginPath();
    ctx.moveTo(x, plot.bbox.top);
    ctx.lineTo(x, plot.bbox.top + plot.bbox.height);
    ctx.stroke();
    const words = `${done ? "✓" : "✗"} ${verdict(round)}`;
    const half = ctx.measureText(words).width / 2;
    const right = plot.bbox.left + plot.bbox.width - half;
    ctx.textAlign = "center";
    ctx.fillText(words, Math.max(plot.bbox.left + half, Math.min(x, right)), plot.bbox.top - 8 * devicePixelRatio);
  }
  ctx.restore();
}
