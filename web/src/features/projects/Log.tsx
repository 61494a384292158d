import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";

import { useProjectLog, type Shapes } from "@/api";
import { exactTime } from "@/lib/format";
import { Badge, Chip, EmptyState, ErrorState, Input, Skeleton, type Meaning } from "@/ui";

type Line = Shapes["LogLine"];
const LEVELS = ["info", "warn", "error"] as const;
const MEANING: Record<string, Meaning> = { warn: "attention", error: "bad" };

/** The operational log as it grows, newest line first. */
export function Log({ project }: { project: string }) {
  const log = useProjectLog(project);
  const { hasNextPage, isFetching, fetchNextPage } = log;
  const [hidden, setHidden] = useState<readonly string[]>([]);
  const [words, setWords] = useState("");
  useEffect(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  const lines = useMemo(() => log.data?.pages.flatMap((page) => page.items).reverse(), [log.data]);
  const shown = useMemo(() => {
    const wanted = words.trim().toLowerCase();
    return lines?.filter((line) => !hidden.includes(line.level) && (wanted === "" || JSON.stringify(line).toLowerCase().includes(wanted)));
  }, [lines, hidden, words]);
  if (log.isError) return <ErrorState error={log.error} onRetry={() => void log.refetch()} />;
  if (lines === undefined || shown === undefined) return <Skeleton lines={8} label="Loading the log" />;
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-1.5">
        <div role="group" aria-label="Levels" className="flex gap-1">
          {LEVELS.map((level) => (
            <Chip
              key={level}
              pressed={!hidden.includes(level)}
              onClick={() => setHidden(hidden.includes(level) ? hidden.filter((each) => each !== level) : [...hidden, level])}
            >
              {`${level} ${lines.filter((line) => line.level === level).length}`}
            </Chip>
          ))}
        </div>
        <div className="w-60">
          <Input aria-label="Search the log" placeholder="Search" value={words} onChange={(event) => setWords(event.target.value)} className="h-6! text-xs" />
        </div>
      </div>
      {shown.length === 0 ? (
        <EmptyState title={lines.length === 0 ? "Nothing yet" : "No such line"}>
          {lines.length === 0 ? "Each phase, call, verdict and error leaves a line here." : "Other levels or words may show some."}
        </EmptyState>
      ) : (
        <Lines lines={shown} />
      )}
    </div>
  );
}

function Lines({ lines }: { lines: readonly Line[] }) {
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({ count: lines.length, getScrollElement: () => box.current, estimateSize: () => 26, overscan: 12 });
  return (
    // It scrolls, so the keyboard has to reach it.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div ref={box} tabIndex={0} role="log" aria-label="Operational log" className="focus-inset min-h-0 flex-1 overflow-auto">
      <div className="relative" style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map((row) => {
          const line = lines[row.index];
          return (
            line && (
              <div
                key={row.key}
                ref={rows.measureElement}
                data-index={row.index}
                className="absolute inset-x-0 flex gap-3 border-b border-line px-3 py-1 text-xs"
                style={{ transform: `translateY(${row.start}px)` }}
              >
                <LogEntry line={line} />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

function LogEntry({ line }: { line: Line }) {
  const meaning = MEANING[line.level];
  return (
    <>
      <time dateTime={line.timestamp} title={exactTime(line.timestamp)} className="shrink-0 font-mono text-muted">
        {line.timestamp.slice(11, 19)}
      </time>
      <span className="w-12 shrink-0">{meaning ? <Badge meaning={meaning}>{line.level}</Badge> : <span className="text-muted">{line.level}</span>}</span>
      <span className="w-24 shrink-0 truncate text-muted">{line.phase.replaceAll("_", " ")}</span>
      <span className="w-32 shrink-0 truncate font-medium">{line.event.replaceAll("_", " ")}</span>
      <span className="min-w-0 flex-1 break-words">{line.detail}</span>
    </>
  );
}
