import { ChevronDown, ChevronRight } from "lucide-react";
import { memo, useState } from "react";

import type { Shapes } from "@/api";

import { MarkedSpans } from "./Marked";
import { shownLine } from "./wish";

export interface FoundFileProps {
  file: Shapes["FileMatchesShape"];
  onOpen: (path: string, line?: number) => void;
}

/** A file with its matching lines; the heading folds them. */
export const FoundFile = memo(function FoundFile({ file, onOpen }: FoundFileProps) {
  const [open, setOpen] = useState(true);
  const name = file.path.slice(file.path.lastIndexOf("/") + 1);
  const folder = file.path.slice(0, Math.max(0, file.path.length - name.length - 1));
  const Chevron = open ? ChevronDown : ChevronRight;
  return (
    <div role="listitem" className="[contain-intrinsic-size:auto_96px] [content-visibility:auto]">
      <button
        type="button"
        data-result
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        title={file.path}
        className="focus-inset flex h-7 w-full items-center gap-1 px-2 text-left hover:bg-surface-2"
      >
        <Chevron aria-hidden size={14} className="shrink-0 text-muted" />
        <span className="shrink-0 font-medium">{name}</span>
        <span className="min-w-0 flex-1 truncate text-xs text-muted">{folder}</span>
        <span className="shrink-0 rounded-full bg-surface-2 px-1.5 text-xs text-muted">
          {file.matches.length}
          {file.truncated && "+"}
        </span>
      </button>
      {open &&
        file.matches.map((match) => {
          const line = shownLine(match.text, match.spans);
          return (
            <button
              key={`${match.line}:${match.column}`}
              type="button"
              data-result
              aria-label={`${file.path} line ${match.line}: ${match.text.trim().slice(0, 120)}`}
              onClick={() => onOpen(file.path, match.line)}
              className="focus-inset flex h-6 w-full items-center gap-2 pr-2 pl-6 text-left font-mono text-xs hover:bg-surface-2"
            >
              <span className="w-8 shrink-0 text-right text-muted">{match.line}</span>
              <span className="truncate whitespace-pre">
                <MarkedSpans text={line.text} spans={line.spans} />
              </span>
            </button>
          );
        })}
    </div>
  );
});
