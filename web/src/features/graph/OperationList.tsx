import { X } from "lucide-react";

import { useOperations, type Operation } from "@/api";
import { shortId } from "@/lib/format";
import { Button, EmptyState, ErrorState, IconButton, RelativeTime, Skeleton } from "@/ui";

import { useUndoing } from "./useUndoing";

function moveWords({ ref, before, after }: Operation["moves"][number]): string {
  const name = ref.replace(/^refs\/(heads|tags)\//, "");
  if (before === null) return `${name} made at ${shortId(after ?? "")}`;
  return after === null ? `${name} removed` : `${name} ${shortId(before)} → ${shortId(after)}`;
}

/** Who moved which branches when; each can be taken back while nothing came after it. */
export function OperationList({ repo, onClose }: { repo: string; onClose: () => void }) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useOperations(repo);
  const undo = useUndoing(repo);
  // What moves no branch is bookkeeping of Forge's own.
  const all = data?.pages.flatMap((page) => page.items).filter((operation) => operation.moves.length > 0);
  const undone = new Set(all?.map((operation) => operation.undoes));
  return (
    <section aria-label="Operations" className="flex h-full flex-col overflow-y-auto">
      <header className="sticky top-0 flex items-center border-b border-line bg-surface-0 px-3 py-1">
        <h2 className="flex-1 font-semibold">Operations</h2>
        <IconButton small icon={X} label="Close operations" onClick={onClose} />
      </header>
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : all === undefined ? (
        <Skeleton lines={5} />
      ) : all.length === 0 ? (
        <EmptyState>Nothing has moved a branch yet. Merges, saves and new branches are listed here, and can be undone.</EmptyState>
      ) : (
        <ol>
          {all.map((operation) => (
            <li key={operation.id} className="flex items-start gap-2 border-b border-line px-3 py-1.5">
              <div className="min-w-0 flex-1">
                <p className="break-words first-letter:uppercase">{operation.reason}</p>
                <p className="text-xs text-muted">
                  {operation.actor} · <RelativeTime time={operation.time} />
                </p>
                {operation.moves.map((move) => (
                  <p key={move.ref} className="font-mono text-xs break-all text-muted">
                    {moveWords(move)}
                  </p>
                ))}
              </div>
              {undone.has(operation.id) ? (
                <span className="text-xs text-muted">undone</span>
              ) : (
                operation.undoes === null && (
                  <Button small aria-label={`Undo ${operation.reason}`} onClick={() => undo(operation.id)}>
                    Undo
                  </Button>
                )
              )}
            </li>
          ))}
        </ol>
      )}
      {hasNextPage && (
        <Button small className="m-3 self-start" busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show older ones
        </Button>
      )}
    </section>
  );
}
