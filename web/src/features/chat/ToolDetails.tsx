import { classNames } from "@/lib/class_names";

import type { Call } from "./parts";
import { editLines } from "./tool_words";

const BOX = "focus-inset max-h-80 overflow-auto rounded-md border border-line font-mono text-xs leading-[18px]";
const LOOK: Record<string, string> = {
  "+": "bg-[color-mix(in_srgb,var(--good)_12%,transparent)]",
  "-": "bg-[color-mix(in_srgb,var(--bad)_12%,transparent)]",
};

function Text({ label, text }: { label: string; text: string }) {
  return (
    // It may scroll, so the keyboard has to reach it.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre role="region" aria-label={label} tabIndex={0} className={classNames(BOX, "bg-surface-1 px-2 py-1.5 break-words whitespace-pre-wrap")}>
      {text}
    </pre>
  );
}

function Edit({ lines }: { lines: NonNullable<ReturnType<typeof editLines>> }) {
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div role="region" aria-label="Change" tabIndex={0} className={BOX}>
      {lines.map((line, i) => (
        <div key={i} className={classNames("min-w-max pr-3 whitespace-pre", LOOK[line.sign])}>
          <span className="inline-block w-6 text-center text-muted select-none">{line.sign}</span>
          {line.text}
        </div>
      ))}
    </div>
  );
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** Arguments and result; an edit as a difference. */
export function ToolDetails({ call }: { call: Call }) {
  const given = call.arguments;
  const edit = given === null ? null : editLines(call.name, given);
  const rest = Object.entries(given ?? {}).filter(([name]) => edit === null || !["path", "content", "search", "replace"].includes(name));
  return (
    <div className="flex flex-col gap-2 py-1 text-xs">
      {given === null && call.about !== "" && <Text label="Argument" text={call.about} />}
      {rest.length > 0 && <Text label="Arguments" text={rest.map(([name, value]) => `${name}: ${shown(value)}`).join("\n")} />}
      {edit && <Edit lines={edit} />}
      {call.result === null ? (
        <p className="text-muted">There is no result yet.</p>
      ) : (
        <Text label="Result" text={call.result === "" ? "(nothing)" : call.result} />
      )}
    </div>
  );
}
