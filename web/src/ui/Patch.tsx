/** One file's difference as lines, from values. For whole comparisons there is the diff view. */
import { classNames } from "@/lib/class_names";

export interface PatchLine {
  /** "+", "-" or " ". */
  sign: string;
  old_number: number | null;
  new_number: number | null;
  text: string;
}

export interface PatchHunk {
  old_start: number;
  new_start: number;
  heading: string;
  lines: PatchLine[];
}

const LOOK: Record<string, string> = {
  "+": "bg-[color-mix(in_srgb,var(--good)_12%,transparent)]",
  "-": "bg-[color-mix(in_srgb,var(--bad)_12%,transparent)]",
};

export function Patch({ hunks, label }: { hunks: readonly PatchHunk[]; label: string }) {
  return (
    // It scrolls sideways, so the keyboard has to reach it.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div role="region" aria-label={label} className="overflow-x-auto font-mono text-xs" tabIndex={0}>
      <table className="w-full border-collapse">
        {hunks.map((hunk, i) => (
          <tbody key={i}>
            <tr className="bg-surface-1 text-muted">
              <td colSpan={3} className="px-2 py-0.5 whitespace-pre">
                {`@@ −${hunk.old_start} +${hunk.new_start} @@ ${hunk.heading}`}
              </td>
            </tr>
            {hunk.lines.map((line, n) => (
              <tr key={n} className={LOOK[line.sign]}>
                <Number value={line.old_number} />
                <Number value={line.new_number} />
                <td className="w-full pr-3 whitespace-pre">
                  <span className="inline-block w-4 text-center select-none">{line.sign === " " ? "" : line.sign}</span>
                  {line.text.replace(/\n$/, "")}
                </td>
              </tr>
            ))}
          </tbody>
        ))}
      </table>
    </div>
  );
}

/** A unified diff of one or more files, from its text. */
export function PatchText({ text, label }: { text: string; label: string }) {
  return (
    // It scrolls, so the keyboard has to reach it.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div role="region" aria-label={label} className="max-h-80 overflow-auto rounded-sm border border-border font-mono text-xs" tabIndex={0}>
      <div className="w-max min-w-full">
        {text.replace(/\n$/, "").split("\n").map((line, i) => (
          <div key={i} className={classNames("px-2 whitespace-pre", look(line))}>
            {line || " "}
          </div>
        ))}
      </div>
    </div>
  );
}

function look(line: string) {
  return /^(\+\+\+|---|@@) /.test(line) ? "bg-surface-1 text-muted" : LOOK[line.slice(0, 1)];
}

function Number({ value }: { value: number | null }) {
  return (
    <td className={classNames("min-w-9 px-1 text-right text-muted select-none", value === null && "opacity-0")}>{value}</td>
  );
}
