import { Badge, RelativeTime, type Meaning } from "@/ui";
import { classNames } from "@/lib/class_names";
import { plural } from "@/lib/format";

import { SEVERITIES, verdict, type Issue, type Round } from "./rounds";

export interface RoundTableProps {
  rounds: readonly Round[];
  chosen: number;
  onChoose: (iteration: number) => void;
}

/** The trajectory in numbers, newest round last. */
export function RoundTable({ rounds, chosen, onChoose }: RoundTableProps) {
  return (
    <div className="overflow-x-auto">
      <table className="w-full border-collapse text-left">
        <caption className="sr-only">Findings, tests and verdict of each round</caption>
        <thead className="text-xs text-muted">
          <tr className="border-b border-line">
            {["Round", "Critical", "Medium", "Minor", "Total", "Tests", "Guards", "When"].map((title) => (
              <th key={title} scope="col" className="px-2 py-1 font-medium">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rounds.map((round) => (
            <tr key={round.iteration} className={classNames("border-b border-line", round.iteration === chosen && "bg-surface-1")}>
              <th scope="row" className="px-2 py-1 font-normal">
                <button
                  type="button"
                  aria-pressed={round.iteration === chosen}
                  className="rounded-sm text-accent underline underline-offset-2"
                  onClick={() => onChoose(round.iteration)}
                >
                  Round {round.iteration}
                </button>
              </th>
              {[...SEVERITIES, "total" as const].map((name) => (
                <td key={name} className="px-2 py-1">
                  {round[name]}
                </td>
              ))}
              <td className="px-2 py-1">
                {round.tests === null ? "–" : `${round.tests.passed} of ${round.tests.total}`}
                {round.evidence !== null && !round.evidence.passes && (
                  <p className="text-xs text-attention">{round.evidence.unproven ? "unproven" : `Not accepted: ${round.evidence.reason}`}</p>
                )}
              </td>
              <td className="px-2 py-1" title={round.reason}>
                {round.outcome === "continue" ? (
                  <span className="text-muted">{verdict(round)}</span>
                ) : (
                  <Badge meaning={round.outcome === "done" ? "good" : "bad"}>{verdict(round)}</Badge>
                )}
              </td>
              <td className="px-2 py-1 text-muted">{round.timestamp !== "" && <RelativeTime time={round.timestamp} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const MEANING: Record<string, Meaning> = { critical: "bad", medium: "attention", minor: "running" };

export function Findings({ round }: { round: Round }) {
  return (
    <section aria-label={`Findings of round ${round.iteration}`} className="flex flex-col gap-2">
      <h2 className="font-semibold">
        Round {round.iteration}: {plural(round.issues.length, "finding")}
      </h2>
      <p className="text-muted">{round.reason}</p>
      <ul className="flex flex-col gap-2">
        {round.issues.map((issue, i) => (
          <Finding key={i} issue={issue} />
        ))}
      </ul>
      {round.mended !== "" && (
        <p className="border-l-2 border-good pl-3">
          <span className="font-medium">Mended: </span>
          {round.mended}
        </p>
      )}
    </section>
  );
}

function Finding({ issue }: { issue: Issue }) {
  return (
    <li className="flex flex-col gap-0.5 rounded-md border border-line px-3 py-2">
      <div className="flex flex-wrap gap-x-3">
        <Badge meaning={MEANING[issue.severity] ?? "attention"}>{issue.severity}</Badge>
        <code className="font-mono text-xs break-all text-muted">{issue.location}</code>
      </div>
      <p className="break-words">{issue.description}</p>
      <p className="text-xs break-words text-muted">{issue.recommendation}</p>
    </li>
  );
}
