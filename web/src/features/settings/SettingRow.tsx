import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from "react";

import { useChangeSetting } from "@/api";
import { classNames } from "@/lib/class_names";
import { Badge, Button, toast } from "@/ui";

import { Select } from "./Select";
import { SettingField } from "./SettingField";
import { asText, asValue, same, shownValue, type Entry } from "./values";
import { aboutOf, labelOf, nothingOf, originOf, told, unitOf } from "./words";

export interface SettingRowProps {
  entry: Entry;
  /** Instead of the name that is made from the setting's own. */
  label?: string | undefined;
  /** What an empty field means, in words. */
  nothing?: string;
  /** Names that are offered while typing. */
  offered?: readonly string[];
  /** Came here from a search or a link. */
  wanted?: boolean;
}

/** One setting: what it is for, its value, its default and where the value comes from. Enter saves, Escape takes back. */
export function SettingRow({ entry, label, nothing = nothingOf(entry.name), offered, wanted }: SettingRowProps) {
  const id = useId();
  const row = useRef<HTMLDivElement>(null);
  const change = useChangeSetting();
  const kept = asText(entry);
  const [draft, setDraft] = useState<string | null>(null);
  const text = draft ?? kept;
  const dirty = draft !== null && draft !== kept;
  const origin = originOf(entry.origin);
  const shownLabel = label ?? labelOf(entry.name);

  const save = (value: unknown) =>
    change.mutate(
      { name: entry.name, value },
      {
        onSuccess: () => {
          setDraft(null);
          toast({ text: `${shownLabel}: saved. Forge takes it up when it starts again.` });
        },
      },
    );
  const discard = () => {
    setDraft(null);
    change.reset();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && dirty) {
      event.stopPropagation();
      discard();
    }
    if (event.key === "Enter" && dirty && (entry.kind.type !== "lines" || event.ctrlKey || event.metaKey)) save(asValue(text, entry));
  };
  useEffect(() => {
    if (wanted !== true) return;
    row.current?.scrollIntoView({ block: "center" });
    row.current?.querySelector<HTMLElement>("input, select, textarea, [role=switch]")?.focus({ preventScroll: true });
  }, [wanted]);

  const problem = change.isError ? told(change.error, entry.name) : undefined;
  const field = { id, entry, describedBy: `${id}-about`, disabled: origin.decided || change.isPending, invalid: problem !== undefined };
  const differs = entry.default !== undefined && !same(entry.default, entry.value) && !origin.decided;
  return (
    // Keys are heard from the field inside.
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions
    <div ref={row} onKeyDown={onKeyDown} className={classNames("flex flex-wrap items-start gap-x-6 gap-y-1.5 px-4 py-3", wanted && "bg-surface-1")}>
      <div className="min-w-60 flex-1">
        <label htmlFor={id} className="font-medium">
          {shownLabel}
        </label>
        <p id={`${id}-about`} className="text-xs text-muted">
          {aboutOf(entry.about, shownLabel)} {entry.default !== undefined && entry.kind.type !== "secret" && <Default value={shownValue(entry.default, nothing)} />}
        </p>
        <p className="text-xs text-muted">
          <code className="font-mono">{entry.name}</code>
          {entry.origin !== "default" && <span title={origin.title}> · {origin.word}</span>}
        </p>
      </div>
      <div className="flex w-70 max-w-full flex-col gap-1.5">
        {entry.kind.type === "choice" ? (
          <Select id={id} aria-describedby={field.describedBy} disabled={field.disabled} value={kept} onChange={(event) => save(event.target.value)}>
            {entry.kind.options.map((option) => (
              <option key={option}>{option}</option>
            ))}
          </Select>
        ) : (
          <SettingField {...field} text={text} placeholder={entry.nullable ? nothing : ""} unit={unitOf(entry.name)} offered={offered} onText={setDraft} onTruth={save} />
        )}
        {problem !== undefined && (
          <p role="alert" className="text-xs text-bad">
            {problem}
          </p>
        )}
        <Actions>
          {dirty && (
            <>
              <Button small kind="primary" busy={change.isPending} onClick={() => save(asValue(text, entry))}>
                Save
              </Button>
              <Button small onClick={discard}>
                Take back
              </Button>
            </>
          )}
          {!dirty && differs && (
            <Button small kind="quiet" busy={change.isPending} onClick={() => save(entry.default)}>
              Use the default
            </Button>
          )}
          {origin.decided && <Badge meaning="attention">{`${origin.word} decides`}</Badge>}
        </Actions>
      </div>
    </div>
  );
}

function Default({ value }: { value: string }) {
  return <span className="whitespace-nowrap">Default: {value}.</span>;
}

function Actions({ children }: { children: ReactNode }) {
  return <div className="flex flex-wrap items-center gap-1.5 empty:hidden">{children}</div>;
}
