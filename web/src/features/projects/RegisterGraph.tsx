import { classNames } from "@/lib/class_names";
import { Badge, type Meaning } from "@/ui";

import type { Assumption, Exploration } from "./exploration";
import type { RegisterViewProps } from "./Register";
import { layout, type Spot } from "./register_layers";

const WIDTH = 168;
const HEIGHT = 76;
const ACROSS = WIDTH + 72;
const DOWN = HEIGHT + 16;
const STATUS: Record<Assumption["status"], Meaning> = { active: "running", at_risk: "attention", invalidated: "bad", confirmed: "good" };

/** What rests on what, from left to right. A broken path is red, dashed and says so. */
export function RegisterGraph({ known, selected, onSelect }: RegisterViewProps) {
  const { spots, ways } = layout(known.assumptions);
  const all = [...spots.values()];
  const width = Math.max(...all.map(({ layer }) => layer)) * ACROSS + WIDTH;
  const height = Math.max(...all.map(({ row }) => row)) * DOWN + HEIGHT;
  const broken = new Set(known.broken_paths.map(([resting, on]) => `${on} ${resting}`));
  return (
    <>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it is scrolled, by keyboard too */}
      <div role="region" aria-label="What rests on what" tabIndex={0} className="focus-inset overflow-auto rounded-md border border-line p-3">
        <div className="relative" style={{ width, height }}>
          <svg aria-hidden width={width} height={height} className="absolute inset-0">
            {ways.map(({ edge, way }) => (
              <Line key={`${edge.from} ${edge.to}`} way={way} broken={broken.has(`${edge.from} ${edge.to}`)} />
            ))}
          </svg>
          <ul>
            {known.assumptions.map((each) => (
              <Node key={each.id} assumption={each} spot={spots.get(each.id)} broken={brokenUnder(each, known)} selected={selected === each.id} onSelect={onSelect} />
            ))}
          </ul>
        </div>
      </div>
      <p className="text-xs text-muted">
        {ways.length === 0
          ? "No assumption rests on another yet."
          : "A line runs from an assumption to what rests on it. A broken line: what it rests on is invalidated or at risk."}
      </p>
    </>
  );
}

function brokenUnder(assumption: Assumption, known: Exploration): string[] {
  return known.broken_paths.filter(([resting]) => resting === assumption.id).map(([, on]) => on);
}

/** Straight through the free spots of a long line, bent between two layers. */
function course(way: readonly Spot[]): string {
  return way
    .slice(1)
    .map((spot, i) => {
      const before = way[i] ?? spot;
      const [x1, y1] = [before.layer * ACROSS + WIDTH, before.row * DOWN + HEIGHT / 2];
      const [x2, y2] = [spot.layer * ACROSS, spot.row * DOWN + HEIGHT / 2];
      const bend = (x2 - x1) / 2;
      return `${i === 0 ? "M" : "L"} ${x1} ${y1} C ${x1 + bend} ${y1}, ${x2 - bend} ${y2}, ${x2} ${y2}`;
    })
    .join(" ");
}

function Line({ way, broken }: { way: readonly Spot[]; broken: boolean }) {
  const [first, second] = way;
  const last = way[way.length - 1];
  if (first === undefined || second === undefined || last === undefined) return null;
  const [x, y] = [first.layer * ACROSS + (WIDTH + ACROSS) / 2, ((first.row + second.row) * DOWN + HEIGHT) / 2 - 4];
  return (
    <g className={broken ? "text-bad" : "text-muted"}>
      <path d={course(way)} fill="none" stroke="currentColor" strokeWidth={broken ? 2 : 1} strokeDasharray={broken ? "5 4" : undefined} />
      <path d={`M ${last.layer * ACROSS} ${last.row * DOWN + HEIGHT / 2} l -7 -4 v 8 z`} fill="currentColor" />
      {broken && (
        <text x={x} y={y} textAnchor="middle" fontSize={12} fill="currentColor" stroke="var(--surface-0)" strokeWidth={4} paintOrder="stroke">
          broken
        </text>
      )}
    </g>
  );
}

interface NodeProps {
  assumption: Assumption;
  spot: Spot | undefined;
  broken: string[];
  selected: boolean;
  onSelect: (id: string) => void;
}

function Node({ assumption, spot, broken, selected, onSelect }: NodeProps) {
  if (spot === undefined) return null;
  return (
    <li className="absolute" style={{ left: spot.layer * ACROSS, top: spot.row * DOWN, width: WIDTH, height: HEIGHT }}>
      <button
        type="button"
        title={assumption.claim}
        aria-pressed={selected}
        onClick={() => onSelect(assumption.id)}
        className={classNames(
          "flex h-full w-full flex-col overflow-hidden rounded-md border bg-surface-1 px-2 py-1 text-left text-xs hover:bg-surface-2",
          selected ? "border-accent outline-1 outline-accent" : assumption.status === "invalidated" ? "border-bad" : "border-line",
        )}
      >
      <span className="flex items-center justify-between gap-2">
        <span className="font-medium">{assumption.id}</span>
        <Badge meaning={STATUS[assumption.status]}>{assumption.status.replace("_", " ")}</Badge>
      </span>
      <span className="line-clamp-3">{assumption.claim}</span>
      {assumption.depends_on.length > 0 && (
        <span className="sr-only">
          {`Rests on ${assumption.depends_on.map((id) => (broken.includes(id) ? `${id} (broken)` : id)).join(", ")}.`}
        </span>
      )}
      </button>
    </li>
  );
}
