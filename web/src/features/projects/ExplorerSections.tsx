import { useQuery } from "@tanstack/react-query";
import { FileText } from "lucide-react";
import { useState, type ReactNode } from "react";

import { answer, api, keys } from "@/api";
import { Button, Markdown, RelativeTime } from "@/ui";

import { exportAddress } from "./Exports";
import type { Exploration } from "./exploration";

const text = (value: unknown) => (typeof value === "string" ? value : "");
const record = (value: unknown) => (typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {});
const list = (value: unknown) => (Array.isArray(value) ? value.map(record) : []);

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="flex flex-col gap-2">
      <h2 className="font-semibold">{title}</h2>
      {children}
    </section>
  );
}

const LEVELS = ["high", "medium", "low"] as const;
const CONFIDENCES = ["guessed", "informed", "validated"] as const;

/** The areas of the solution by how grave and how well known their risk is, and the risks below. */
export function Risks({ known }: { known: Exploration }) {
  const areas: Record<string, unknown>[] = Object.entries(known.risk_assessment).flatMap(([area, judged]) =>
    typeof judged === "object" && judged !== null ? [{ area, ...record(judged) }] : [],
  );
  if (areas.length === 0 && known.risks.length === 0) return null;
  return (
    <Section title="Risks">
      {areas.length > 0 && (
        <table className="w-full table-fixed border-separate border-spacing-1 text-left">
          <caption className="sr-only">Areas by risk and confidence</caption>
          <thead className="text-xs text-muted">
            <tr>
              <th scope="col" className="w-15 font-normal">
                Risk
              </th>
              {CONFIDENCES.map((name) => (
                <th key={name} scope="col" className="px-1 font-normal">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {LEVELS.map((level) => (
              <tr key={level}>
                <th scope="row" className="align-top text-xs font-normal text-muted">
                  {level}
                </th>
                {CONFIDENCES.map((confidence) => (
                  <td key={confidence} className={`h-9 rounded-md border p-1 align-top text-xs ${level === "high" ? "border-attention" : "border-line"}`}>
                    {areas
                      .filter((each) => each["level"] === level && each["confidence"] === confidence)
                      .map((each) => (
                        <span key={text(each["area"])} className="block first-letter:uppercase" title={text(each["who_loses"]) && `${text(each["who_loses"])} loses`}>
                          {text(each["area"])}
                        </span>
                      ))}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <ul className="flex flex-col gap-1">
        {known.risks.map((each) => (
          <li key={text(each["id"])}>
            <span className="font-medium">{text(each["id"])}</span> {text(each["text"])} <span className="text-muted">{text(each["area"])}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

const KINDS = [
  ["leading", "Early sign"],
  ["lagging", "Result"],
  ["anti_metric", "Must not get worse"],
] as const;

export function Metrics({ known }: { known: Exploration }) {
  const groups = KINDS.map(([kind, title]) => ({ title, found: list(known.metrics[kind]) })).filter(({ found }) => found.length > 0);
  if (groups.length === 0) return null;
  return (
    <Section title="Metrics">
      <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-1">
        {groups.map(({ title, found }) => (
          <div key={title} className="contents">
            <dt className="text-muted">{title}</dt>
            <dd>
              {found.map((each) => (
                <span key={text(each["id"])} className="block" title={text(each["id"])}>
                  {text(each["text"])}
                </span>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

/** The person's files, with the places that were cited. */
export function CitedDocuments({ known }: { known: Exploration }) {
  if (known.documents.length === 0) return null;
  return (
    <Section title="Documents">
      <ul className="flex flex-col gap-1">
        {known.documents.map(({ name, citations }) => (
          <li key={name} className="flex min-w-0 gap-1.5">
            <FileText aria-hidden size={14} className="mt-[3px] shrink-0 text-muted" />
            <span className="min-w-0 break-words">
              {name}
              {citations.length === 0 ? (
                <span className="block text-xs text-muted">Not cited yet</span>
              ) : (
                citations.map(({ id, place, turn }) => (
                  <span key={id} className="block text-xs text-muted">
                    <span className="font-medium">{id}</span> {`${place.slice(name.length + 2)}, turn ${turn}`}
                  </span>
                ))
              )}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

const SHOWN = 8;

/** Every change with its reason, newest first. */
export function History({ known }: { known: Exploration }) {
  const [all, setAll] = useState(false);
  const changes = known.changes.toReversed();
  if (changes.length === 0) return null;
  return (
    <Section title="History">
      <ol className="flex flex-col gap-1.5">
        {(all ? changes : changes.slice(0, SHOWN)).map((each, i) => (
          <li key={`${changes.length - i}`} className="min-w-0 break-words">
            {text(each["summary"])}{" "}
            <span className="text-xs text-muted">
              {text(each["reason"])} {text(each["by"])}, <RelativeTime time={text(each["time"])} />
            </span>
          </li>
        ))}
      </ol>
      {!all && changes.length > SHOWN && (
        <Button small kind="quiet" className="self-start" onClick={() => setAll(true)}>
          {`Show all ${changes.length}`}
        </Button>
      )}
    </Section>
  );
}

const FORMATS = ["md", "docx", "pdf"] as const;

/** Each brief as it reads, to be opened, and to be taken away in three formats. */
export function Briefs({ project, known }: { project: string; known: Exploration }) {
  if (known.artifacts.length === 0) return null;
  return (
    <Section title="Briefs">
      {known.artifacts.map(({ type, path }) => (
        <Brief key={path} project={project} title={type.replaceAll("_", " ")} stem={path.replace("artifacts/", "").replace(/\.md$/, "")} changed={known.changes.length} />
      ))}
    </Section>
  );
}

function Brief({ project, title, stem, changed }: { project: string; title: string; stem: string; changed: number }) {
  const [open, setOpen] = useState(false);
  const name = `${stem}.md`;
  const written = useQuery({
    queryKey: [...keys.project(project), "brief", stem, changed],
    enabled: open,
    queryFn: ({ signal }) =>
      answer(api.GET("/api/projects/{project}/artifacts/{name}", { params: { path: { project, name } }, parseAs: "text", signal })),
  });
  return (
    <article aria-label={title} className="rounded-md border border-line">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2">
        <button type="button" aria-expanded={open} onClick={() => setOpen(!open)} className="min-w-32 flex-1 text-left font-medium first-letter:uppercase hover:underline">
          {title}
        </button>
        {FORMATS.map((ending) => (
          <a key={ending} href={exportAddress(project, `${stem}.${ending}`)} download={`${stem}.${ending}`} aria-label={`Download ${stem}.${ending}`} className="text-xs text-accent underline">
            {ending.toUpperCase()}
          </a>
        ))}
      </div>
      {open && <div className="border-t border-line px-3 py-2">{written.isError ? <p className="text-bad">{written.error.message}</p> : <Markdown text={written.data ?? ""} />}</div>}
    </article>
  );
}
