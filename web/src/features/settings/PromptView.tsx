import { lazy, Suspense, useState, type KeyboardEvent } from "react";

import { useIsAdmin, usePrompt, usePromptDiff, useSavePrompt, type Prompt } from "@/api";
import { useCommand } from "@/lib/commands";
import { useStored } from "@/lib/stored";
import { patiently } from "@/lib/patiently";
import { Badge, Button, Confirm, EmptyState, ErrorState, Patch, Skeleton, toast } from "@/ui";

import { hunksOf } from "./patching";
import { told } from "./words";

const PromptEditor = lazy(() => patiently(() => import("./PromptEditor")));
const NOTHING: { text: string | null } = { text: null };

/** One prompt: edited here by whoever may, compared with the one that Forge brings, and set back to it. */
export function PromptView({ prompt }: { prompt: Prompt }) {
  const { name } = prompt;
  const { data, error, refetch } = usePrompt(name);
  const save = useSavePrompt(name);
  const isAdmin = useIsAdmin() === true;
  const [draft, setDraft] = useStored(`draft:prompt:${name}`, NOTHING);
  const [comparing, setComparing] = useState(false);
  const [resetting, setResetting] = useState(false);
  const dirty = isAdmin && data !== undefined && draft.text !== null && draft.text !== data.text;
  const changed = prompt.origin === "override";

  const keep = () =>
    dirty &&
    save.mutate(draft.text, {
      onSuccess: () => {
        setDraft(NOTHING);
        toast({ text: `${name}: saved. It is used from the next call on.`, meaning: "good" });
      },
    });
  const reset = async () => {
    await save.mutateAsync(null);
    setDraft(NOTHING);
    setComparing(false);
    toast({ text: `${name}: back to the default. Your text is kept beside it.` });
  };
  useCommand({ id: "prompt.save", title: `Save the prompt ${name}`, group: "Settings", enabled: dirty, run: () => void keep() });
  useCommand({ id: "prompt.compare", title: `Compare the prompt ${name} with its default`, group: "Settings", enabled: changed, run: () => setComparing((now) => !now) });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "s" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    event.stopPropagation();
    keep();
  };
  if (data === undefined) return error === null ? <Skeleton lines={8} /> : <ErrorState error={error} onRetry={() => void refetch()} />;
  return (
    // Keys are heard from the editor inside.
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions
    <div className="flex min-h-0 flex-1 flex-col" onKeyDown={onKeyDown}>
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-3 py-2">
        <h2 className="min-w-0 flex-1 truncate font-semibold">{name}</h2>
        {dirty && <Badge meaning="attention">not saved</Badge>}
        {changed && (
          <Button small aria-pressed={comparing} onClick={() => setComparing(!comparing)}>
            {comparing ? "Show the text" : "Compare with default"}
          </Button>
        )}
        {!isAdmin && <span className="text-xs text-muted">Who may administer this server changes it.</span>}
        {changed && isAdmin && (
          <Button small onClick={() => setResetting(true)}>
            Reset to default
          </Button>
        )}
        {dirty && (
          <Button small onClick={() => setDraft(NOTHING)}>
            Take back
          </Button>
        )}
        {isAdmin && (
          <Button small kind="primary" disabled={!dirty} busy={save.isPending} onClick={keep}>
            Save
          </Button>
        )}
      </div>
      {prompt.problem !== "" && <p className="border-b border-line px-3 py-2 text-xs text-bad">{prompt.problem}</p>}
      {save.isError && (
        <p role="alert" className="border-b border-line px-3 py-2 text-xs text-bad">
          {told(save.error)}
        </p>
      )}
      <div className="min-h-0 flex-1 overflow-auto">
        {comparing ? (
          <Comparison name={name} />
        ) : (
          <Suspense fallback={<Skeleton lines={8} />}>
            <PromptEditor label={`Text of the prompt ${name}`} text={(isAdmin ? draft.text : null) ?? data.text} onText={isAdmin ? (text) => setDraft({ text }) : undefined} />
          </Suspense>
        )}
      </div>
      <Confirm
        open={resetting}
        onClose={() => setResetting(false)}
        title={`Reset ${name} to its default?`}
        about="Agents get the text that Forge brings from the next call on. Your text is kept in a file beside it."
        action="Reset to default"
        onConfirm={reset}
      />
    </div>
  );
}

function Comparison({ name }: { name: string }) {
  const { data, error } = usePromptDiff(name);
  if (data === undefined) return error === null ? <Skeleton lines={6} /> : <ErrorState error={error} />;
  const hunks = hunksOf(data);
  return hunks.length === 0 ? <EmptyState>Your text is the same as the default.</EmptyState> : <Patch hunks={hunks} label={`What your text changes in ${name}`} />;
}
