import { Download, FileText, History, Lock } from "lucide-react";
import { useState } from "react";

import { artifactAddress, useDocument, type Project } from "@/api";
import { classNames } from "@/lib/class_names";
import { Button, EmptyState, ErrorState, Markdown, Skeleton, Tooltip } from "@/ui";

import { DocumentChanges } from "./DocumentChanges";
import { isLocked } from "./phases";
import { useDocuments } from "./queries";

const ORDER = ["plan.md", "outline.md", "constraints.md", "spec.md", "intent.md"];
const TITLES: Record<string, string> = {
  "intent.md": "Intent",
  "spec.md": "Spec",
  "constraints.md": "Constraints",
  "plan.md": "Plan",
  "outline.md": "Outline",
  "how-this-was-made.md": "How this was made",
};

const rank = (name: string) => (ORDER.includes(name) ? ORDER.length - ORDER.indexOf(name) : 99);

/** Intent, spec, constraints and plan: the newest is shown until a person chooses. */
export function Documents({ project }: { project: Project }) {
  const documents = useDocuments(project.id);
  const [chosen, setChosen] = useState<string>();
  const [changes, setChanges] = useState(false);
  if (documents.isError) return <ErrorState error={documents.error} onRetry={() => void documents.refetch()} />;
  if (documents.data === undefined) return <Skeleton lines={6} label="Loading the documents" />;
  const names = documents.data.map(({ name }) => name).sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
  const shown = names.find((name) => name === chosen) ?? ORDER.find((name) => name !== "constraints.md" && names.includes(name)) ?? names[0];
  if (shown === undefined) {
    return (
      <EmptyState icon={FileText} title="No document yet">
        Distill writes the intent here; the specification, its constraints and the plan follow.
      </EmptyState>
    );
  }
  return (
    <section aria-label="Documents" className="flex h-full min-h-0 flex-col">
      <div className="flex h-9 shrink-0 items-center gap-1 border-b border-line px-2">
        <div role="group" aria-label="Document" className="flex min-w-0 flex-1 gap-1 overflow-x-auto">
          {names.map((name) => (
            <DocumentName key={name} name={name} pressed={name === shown} locked={isLocked(name, project)} onClick={() => setChosen(name)} />
          ))}
        </div>
        <Button small kind="quiet" icon={History} aria-pressed={changes} onClick={() => setChanges(!changes)} className="aria-pressed:bg-surface-2">
          Changes
        </Button>
        <Tooltip text={`Download ${shown}`}>
          <a
            href={artifactAddress(project.id, shown)}
            download={shown}
            aria-label={`Download ${shown}`}
            className="inline-flex size-6 shrink-0 items-center justify-center rounded-md text-muted hover:bg-surface-2 hover:text-text"
          >
            <Download aria-hidden size={14} />
          </a>
        </Tooltip>
      </div>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it is scrolled, by keyboard too */}
      <div tabIndex={0} role="region" aria-label="Document" className="focus-inset min-h-0 flex-1 overflow-auto">
        {changes ? <DocumentChanges key={shown} project={project.id} name={shown} /> : <DocumentText project={project.id} name={shown} />}
      </div>
    </section>
  );
}

interface DocumentNameProps {
  name: string;
  pressed: boolean;
  locked: boolean;
  onClick: () => void;
}

function DocumentName({ name, pressed, locked, onClick }: DocumentNameProps) {
  const title = TITLES[name] ?? name.replace(/\.md$/, "");
  return (
    <Tooltip text={locked ? `docs/${name}, locked: you confirmed it` : `docs/${name}`}>
      <button
        type="button"
        aria-pressed={pressed}
        onClick={onClick}
        className={classNames(
          "focus-inset flex h-6 shrink-0 items-center gap-1 rounded-md px-2 text-xs",
          pressed ? "bg-surface-2 font-medium" : "text-muted hover:text-text",
        )}
      >
        {title}
        {locked && <Lock aria-label="locked" size={11} />}
      </button>
    </Tooltip>
  );
}

function DocumentText({ project, name }: { project: string; name: string }) {
  const text = useDocument(project, name);
  if (text.isError) return <ErrorState error={text.error} onRetry={() => void text.refetch()} />;
  if (text.data === undefined) return <Skeleton lines={8} label={`Loading ${name}`} />;
  return (
    <article aria-label={name} className="mx-auto max-w-[84ch] px-4 py-3">
      <Markdown text={text.data} />
    </article>
  );
}
