import { NotebookPen } from "lucide-react";
import { useCallback, useEffect, useRef, useState } from "react";

import { ErrorState, Skeleton } from "@/ui";
import { exactTime, plural, relativeTime } from "@/lib/format";

import { useNote, useSaveNote, type Note } from "./notes";

const PAUSE = 500;

/** The person's own note on a project, which its agents read too. Folded until it is wanted. */
export function Notepad({ project }: { project: string }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="rounded-md border border-line" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="flex cursor-pointer items-center gap-2 px-3 py-1.5 text-sm">
        <NotebookPen aria-hidden size={14} className="text-muted" />
        Notes
      </summary>
      {open && <OpenNotepad project={project} />}
    </details>
  );
}

function OpenNotepad({ project }: { project: string }) {
  const note = useNote(project);
  if (note.isError) return <ErrorState error={note.error} onRetry={() => void note.refetch()} />;
  if (note.data === undefined) return <Skeleton lines={2} label="Loading your notes" />;
  return <Sheet project={project} note={note.data} />;
}

/** What is typed but not sent, and the version it was typed over. */
interface Unsaved {
  text: string;
  seen: number;
}

function Sheet({ project, note }: { project: string; note: Note }) {
  const [text, setText] = useState<string>();
  const { mutate, isPending, isError } = useSaveNote(project);
  const unsaved = useRef<Unsaved>(undefined);
  const timer = useRef<number>(undefined);

  const save = useCallback(() => {
    window.clearTimeout(timer.current);
    const wanted = unsaved.current;
    if (wanted === undefined) return;
    unsaved.current = undefined;
    mutate(wanted, {
      onError: () => {
        unsaved.current ??= wanted;
      },
    });
  }, [mutate]);
  useEffect(() => {
    window.addEventListener("pagehide", save);
    return () => {
      window.removeEventListener("pagehide", save);
      save();
    };
  }, [save]);

  const shown = text ?? note.text;
  return (
    <div className="flex flex-col gap-1 px-3 pb-2">
      <textarea
        aria-label="Your notes on this project"
        className="min-h-24 w-full resize-y rounded border border-line bg-surface-0 p-2 text-sm"
        placeholder="Notes for yourself and for the agents of this project"
        maxLength={100_000}
        value={shown}
        onChange={(event) => {
          setText(event.target.value);
          unsaved.current = { text: event.target.value, seen: note.version };
          window.clearTimeout(timer.current);
          timer.current = window.setTimeout(save, PAUSE);
        }}
        onBlur={save}
      />
      <p role="status" className="flex justify-between text-xs text-muted">
        <span>{plural(shown.length, "character")}</span>
        <span title={note.saved === null ? undefined : exactTime(note.saved)}>
          {isError ? "Not saved. Typing tries again." : isPending ? "Saving…" : note.saved === null ? "" : `Saved ${relativeTime(note.saved)}`}
        </span>
      </p>
    </div>
  );
}
