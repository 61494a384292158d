import { createPortal } from "react-dom";

import { useBranches, useCommit, type GraphRow } from "@/api";
import { exactTime, plural, shortPath } from "@/lib/format";

import { Counts } from "./ChangedFiles";
import { authorName, isByAgent } from "./labels";
import { useTurnAt } from "./queries";

const MOST = 6;
const WIDTH = 340;

/** What a commit is about, while the pointer rests on it. The details beside the graph say the same, and more. */
export function HoverCard({ repo, row, x, y }: { repo: string; row: GraphRow | undefined; x: number; y: number }) {
  const { data: branches } = useBranches(repo);
  const { data: detail } = useCommit(repo, row?.id ?? "HEAD");
  const agent = row !== undefined && isByAgent(row.author);
  const { data: turn } = useTurnAt(repo, branches?.[0]?.name, row?.id ?? "", agent);
  if (row === undefined) return null;
  const below = y < window.innerHeight / 2;
  return createPortal(
    <div
      className="floating pointer-events-none fixed z-30 animate-appear px-3 py-2 text-xs"
      style={{
        width: WIDTH,
        left: Math.min(x + 16, window.innerWidth - WIDTH - 8),
        ...(below ? { top: y + 16 } : { bottom: window.innerHeight - y + 16 }),
      }}
    >
      <p className="text-sm font-medium break-words">{row.subject || "No message"}</p>
      <p className="text-muted">{`${authorName(row.author)} · ${exactTime(row.time)}`}</p>
      {turn && <p className="mt-1.5 line-clamp-3 border-l-2 border-accent pl-2 break-words">{turn.asked}</p>}
      {detail && detail.files.length > 0 && (
        <ul className="mt-1.5 flex flex-col gap-0.5 border-t border-line pt-1.5">
          {detail.files.slice(0, MOST).map((file) => (
            <li key={file.path} className="flex gap-2">
              <span className="min-w-0 flex-1 truncate">{shortPath(file.path, 42)}</span>
              <Counts file={file} />
            </li>
          ))}
          {detail.files.length > MOST && <li className="text-muted">{`and ${plural(detail.files.length - MOST, "more file")}`}</li>}
        </ul>
      )}
    </div>,
    document.body,
  );
}
