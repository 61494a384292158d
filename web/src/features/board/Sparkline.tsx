export interface SparklineProps {
  totals: readonly number[];
  /** "falling", "rising", "level", or empty. */
  trend: string;
}

const SHOWN = 24;
const [STEP, HIGH] = [6, 18];
const COLORS: Record<string, string> = { falling: "text-good", rising: "text-bad" };

/** Findings of each round, as bars; the newest at the right. */
export function Sparkline({ totals, trend }: SparklineProps) {
  const shown = totals.slice(-SHOWN);
  const most = Math.max(1, ...shown);
  const label = `Findings by round: ${shown.join(", ")}${trend === "" ? "" : `, ${trend}`}`;
  return (
    <svg role="img" aria-label={label} width={shown.length * STEP} height={HIGH} className={COLORS[trend] ?? "text-muted"}>
      {shown.map((total, i) => {
        // What is not zero never looks like zero.
        const height = total <= 0 ? 1 : Math.max(3, Math.round((total / most) * HIGH));
        return <rect key={i} x={i * STEP} y={HIGH - height} width={STEP - 2} height={height} rx={1} fill="currentColor" />;
      })}
    </svg>
  );
}
