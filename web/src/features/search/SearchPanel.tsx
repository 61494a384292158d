import { useNavigate } from "@tanstack/react-router";
import { CaseSensitive, Regex, WholeWord } from "lucide-react";
import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";

import { useSearch } from "@/api";
import { plural } from "@/lib/format";
import { filePlace } from "@/lib/places";
import { useStored } from "@/lib/stored";
import { EmptyState, ErrorState, IconButton, Input, ProgressLine } from "@/ui";

import { FoundFile } from "./FoundFile";
import { EMPTY, wishOf, type SearchForm } from "./wish";

export interface SearchPanelProps {
  repo: string;
  branch: string;
  /** Something was typed before this was here. */
  early: boolean;
  onEarly: (early: boolean) => void;
}

/** While somebody types, the server is not asked for every letter. */
const PAUSE = 200;

function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), PAUSE);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

const LIMITS: Record<string, string> = { matches: "There are more; only the first are shown.", time: "It took too long; some files were not looked at." };

/** Searches the text of every file on the branch. */
export function SearchPanel({ repo, branch, early, onEarly }: SearchPanelProps) {
  const navigate = useNavigate();
  const [stored, setForm] = useStored<Partial<SearchForm>>(`search:${repo}`, EMPTY);
  const form = useMemo(() => ({ ...EMPTY, ...stored }), [stored]);
  const field = useRef<HTMLInputElement>(null);
  const results = useRef<HTMLDivElement>(null);
  const settled = useSettled(form);
  const search = useSearch(repo, wishOf(settled, branch));
  useEffect(() => {
    field.current?.focus();
    if (!early) field.current?.select();
    onEarly(false);
    // Only once: from then on the focus is the person's.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);

  const set = (part: Partial<typeof form>) => setForm((before) => ({ ...before, ...part }));
  const open = (path: string, line?: number) => void navigate(filePlace({ repo, branch, file: path, line }));
  const step = (by: number) => {
    const all = [...(results.current?.querySelectorAll<HTMLElement>("[data-result]") ?? [])];
    const now = all.indexOf(document.activeElement as HTMLElement);
    const next = all[now + by];
    if (next !== undefined) next.focus();
    else if (by < 0) field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    step(by);
  };
  const onShortcut = (event: KeyboardEvent) => {
    if (!event.altKey) return;
    if (event.key === "c") set({ matchCase: !form.matchCase });
    else if (event.key === "w") set({ wholeWord: !form.wholeWord });
    else if (event.key === "r") set({ regex: !form.regex });
    else return;
    event.preventDefault();
  };
  const asked = settled.pattern !== "";
  const found = asked ? search.data : undefined;
  return (
    <section aria-label="Search" className="flex h-full min-h-0 flex-col bg-surface-1">
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
      <form role="search" className="flex flex-col gap-2 border-b border-line p-3" onKeyDown={onShortcut} onSubmit={(event) => event.preventDefault()}>
        <div className="flex items-center gap-0.5">
          <div className="min-w-0 flex-1">
            <Input
              ref={field}
              aria-label="Search in files"
              placeholder="Search in files"
              value={form.pattern}
              maxLength={1000}
              onChange={(event) => set({ pattern: event.target.value })}
              onKeyDown={(event) => {
                if (event.key !== "Enter" && event.key !== "ArrowDown") return;
                event.preventDefault();
                step(1);
              }}
            />
          </div>
          <IconButton small icon={CaseSensitive} label="Match case" keys="alt+c" pressed={form.matchCase} onClick={() => set({ matchCase: !form.matchCase })} />
          <IconButton small icon={WholeWord} label="Whole words" keys="alt+w" pressed={form.wholeWord} onClick={() => set({ wholeWord: !form.wholeWord })} />
          <IconButton small icon={Regex} label="Regular expression" keys="alt+r" pressed={form.regex} onClick={() => set({ regex: !form.regex })} />
        </div>
        <Input aria-label="Only in files" placeholder="Only in: *.py, docs" value={form.include} onChange={(event) => set({ include: event.target.value })} />
        <Input aria-label="Not in files" placeholder="Not in: tests, *.lock" value={form.exclude} onChange={(event) => set({ exclude: event.target.value })} />
      </form>
      {asked && search.isFetching && <ProgressLine label="Searching" />}
      {asked && search.error !== null ? (
        <ErrorState compact error={search.error} />
      ) : !asked ? (
        <EmptyState>Words are looked for in every file of {branch}, without a checkout.</EmptyState>
      ) : found === undefined ? null : found.files.length === 0 ? (
        <EmptyState>Nothing on {branch} matches.</EmptyState>
      ) : (
        <>
          <p role="status" className="shrink-0 px-3 py-1.5 text-xs text-muted">
            {plural(found.matches, "match", "matches")} in {plural(found.files.length, "file")}
            {found.truncated !== null && `. ${LIMITS[found.truncated] ?? "Not everything is shown."}`}
          </p>
          {/* eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
          <div ref={results} role="list" aria-label="Results" onKeyDown={onKeyDown} className="min-h-0 flex-1 overflow-auto pb-2">
            {found.files.map((file) => (
              <FoundFile key={file.path} file={file} onOpen={open} />
            ))}
          </div>
        </>
      )}
    </section>
  );
}
