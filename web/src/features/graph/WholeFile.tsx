import { useQuery } from "@tanstack/react-query";

import { keys, readFile, type Merge } from "@/api";
import { Badge, Button, Skeleton } from "@/ui";

import { sideText, type Conflict, type Decision } from "./resolutions";

export interface WholeFileProps {
  repo: string;
  conflict: Conflict;
  view: Merge;
  /** Whose the two sides are. */
  names: { ours: string; theirs: string };
  decision: Decision;
  onDecide: (decision: Decision) => void;
}

/** A side's text: as the server tells it, else as the file is in that side's commit. Null: no text. */
function useSide(repo: string, side: Conflict["ours"], path: string, commit: string) {
  const told = sideText(side);
  const { data, isPending } = useQuery({
    queryKey: [...keys.filesAt(repo, commit), "side", path, side?.id ?? ""],
    enabled: side !== null && told === undefined,
    staleTime: Infinity,
    retry: false,
    queryFn: async ({ signal }) => (await readFile({ repo, branch: "", at: commit }, path, signal)).text,
  });
  if (side === null) return { text: null, there: false, loading: false };
  return { text: told ?? data ?? null, there: true, loading: told === undefined && isPending };
}

/** A file that cannot be joined line by line: one side has it otherwise, or not at all. */
export function WholeFile({ repo, conflict, view, names, decision, onDecide }: WholeFileProps) {
  const { path } = conflict;
  const theirsAt = view.stopped_at ?? view.sources[0] ?? "";
  const oursAt = view.kind === "rebase" ? (view.sources.at(-1) ?? "") : view.target_tip;
  const ours = useSide(repo, conflict.ours, path, oursAt);
  const theirs = useSide(repo, conflict.theirs, path, theirsAt);
  const sides = [
    { name: `Ours: ${names.ours}`, verb: "Keep ours", ...ours },
    { name: `Theirs: ${names.theirs}`, verb: "Keep theirs", ...theirs },
  ];
  const binary = sides.some((side) => side.there && !side.loading && side.text === null);
  return (
    <section aria-label={`Conflict in ${path}`} className="flex flex-col gap-3">
      <p>
        <Badge meaning={decision === undefined ? "attention" : "good"}>{conflict.kind}</Badge>{" "}
        <span className="font-mono text-xs text-muted">{path}</span>
      </p>
      <div className="flex flex-col gap-2 sm:flex-row">
        {sides.map((side) => (
          <div key={side.verb} className="flex min-w-0 flex-1 flex-col rounded-md border border-line">
            <p className="truncate border-b border-line bg-surface-1 px-2 py-0.5 text-xs text-muted">{side.name}</p>
            {side.loading ? (
              <Skeleton lines={2} />
            ) : (
              <pre className="max-h-72 min-h-8 flex-1 overflow-auto px-2 py-1 font-mono text-xs leading-5">
                {side.text ?? <span className="text-muted italic">{side.there ? "no text" : "the file is not there"}</span>}
              </pre>
            )}
          </div>
        ))}
      </div>
      <div className="flex flex-wrap gap-1.5">
        {sides.map(
          (side) =>
            side.there && (
              <Button
                key={side.verb}
                small
                disabled={side.text === null}
                aria-pressed={decision !== undefined && decision === side.text}
                onClick={() => onDecide(side.text)}
              >
                {side.verb}
              </Button>
            ),
        )}
        <Button small aria-pressed={decision === null} onClick={() => onDecide(null)}>
          Delete the file
        </Button>
      </div>
      {binary && <p className="text-xs text-muted">A side that is no text is chosen on the command line: forge merge --resolve PATH=FILE.</p>}
    </section>
  );
}
