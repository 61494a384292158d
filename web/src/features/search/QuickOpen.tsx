import { useNavigate } from "@tanstack/react-router";
import { Dialog } from "radix-ui";
import { useEffect, useId, useRef, useState, type KeyboardEvent } from "react";

import { classNames } from "@/lib/class_names";
import { counted } from "@/lib/format";
import { filePlace } from "@/lib/places";
import { recentFiles } from "@/lib/recent_files";

import { MarkedLetters } from "./Marked";
import { usePathSearch, type PathSearch } from "./usePathSearch";

export interface QuickOpenProps {
  repo: string;
  branch: string;
  typed: string;
  onTyped: (typed: string) => void;
  onClose: () => void;
  /** Enter was pressed before there was anything to open: the best match is opened when it is there. */
  entered: boolean;
  onEnter: () => void;
}

/** "app.py:42" is a file and a line in it; ":42" a line of the file in front. */
export function wishOf(typed: string): { query: string; line: number | undefined } {
  const found = /^(.*?):(\d+)?$/.exec(typed);
  return found === null ? { query: typed, line: undefined } : { query: found[1] ?? "", line: found[2] === undefined ? undefined : Number(found[2]) };
}

/** What Enter opens that came too early: at once what is named whole, otherwise the best when all have been read. */
export function awaited({ found, foundFor, foundInAll }: PathSearch, query: string): string | undefined {
  if (foundFor !== query) return undefined;
  const named = found.find(({ path }) => path === query || path.endsWith(`/${query}`));
  return foundInAll ? found[0]?.path : query === "" ? undefined : named?.path;
}

function Finder({ repo, branch, typed, onTyped, onClose, entered, onEnter }: QuickOpenProps) {
  const navigate = useNavigate();
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(0);
  const { query, line } = wishOf(typed);
  const search = usePathSearch(repo, branch, query);
  const recent = recentFiles(repo);
  const lineOnly = typed.startsWith(":");
  const found = lineOnly ? search.found.slice(0, 1) : search.found;

  useEffect(() => list.current?.querySelector(`[data-index="${active}"]`)?.scrollIntoView({ block: "nearest" }), [active]);
  const open = (path: string | undefined) => {
    if (path === undefined) return;
    onClose();
    void navigate(filePlace({ repo, branch, file: path, line }));
  };
  const late = entered ? awaited(search, query) : undefined;
  useEffect(() => {
    if (late !== undefined) open(late);
    // Once, when it is there.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [late]);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (step !== undefined) setActive(Math.max(0, Math.min(found.length - 1, active + step)));
    else if (event.key === "Enter" && search.foundFor === query && found[active] !== undefined) open(found[active].path);
    else if (event.key === "Enter") onEnter();
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        role="combobox"
        aria-label="File to open"
        aria-expanded
        aria-controls={id}
        aria-activedescendant={found[active] === undefined ? undefined : `${id}-${active}`}
        placeholder="Type letters of a path, or name:line"
        spellCheck={false}
        autoComplete="off"
        autoFocus
        value={typed}
        onChange={(event) => {
          onTyped(event.target.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
        className="h-10 w-full shrink-0 border-b border-line bg-transparent px-3 outline-none"
      />
      <div ref={list} id={id} role="listbox" aria-label="Files" className="min-h-0 flex-1 overflow-auto p-1">
        {found.map(({ path, at }, i) => {
          const name = path.lastIndexOf("/") + 1;
          return (
            // Keys are heard by the field above, which points here.
            // eslint-disable-next-line jsx-a11y/click-events-have-key-events
            <div
              key={path}
              id={`${id}-${i}`}
              data-index={i}
              role="option"
              tabIndex={-1}
              aria-selected={i === active}
              aria-label={path}
              onClick={() => open(path)}
              onMouseMove={() => i !== active && setActive(i)}
              className={classNames("flex h-7 items-center gap-2 rounded-sm px-2", i === active && "bg-surface-2")}
            >
              <span className="shrink-0">
                <MarkedLetters text={path.slice(name)} at={at.filter((place) => place >= name).map((place) => place - name)} />
              </span>
              <span className="min-w-0 flex-1 truncate text-xs text-muted">
                <MarkedLetters text={path.slice(0, Math.max(0, name - 1))} at={at} />
              </span>
              {recent.includes(path) && <span className="shrink-0 text-xs text-muted">recent</span>}
            </div>
          );
        })}
      </div>
      <p role="status" className="shrink-0 border-t border-line px-3 py-1 text-xs text-muted">
        {search.problem ??
          (lineOnly
            ? `Enter goes to line ${line ?? "…"} of ${found[0]?.path ?? "the file"}.`
            : found.length === 0 && !search.reading
              ? `None of ${counted(search.size, "file")} has these letters in this order.`
              : `${counted(search.size, "file")}${!search.reading ? "" : entered ? ", reading; the best match opens then" : ", reading …"}`)}
      </p>
    </>
  );
}

/** Opens a file by a few letters of its path. */
export function QuickOpen(props: QuickOpenProps) {
  const { onClose } = props;
  return (
    <Dialog.Root open onOpenChange={(is) => !is && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-shade" />
        <Dialog.Content
          aria-describedby={undefined}
          className="floating fixed top-[10vh] left-1/2 z-40 flex max-h-[60vh] w-[calc(100vw-32px)] max-w-160 -translate-x-1/2 animate-appear flex-col"
        >
          <Dialog.Title className="sr-only">Open a file</Dialog.Title>
          <Finder {...props} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
