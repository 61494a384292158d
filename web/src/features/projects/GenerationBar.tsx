import { CircleStop, ListChecks, Sparkles } from "lucide-react";
import { useState } from "react";

import { isProblem } from "@/api";
import { Button, Cost, Dialog, ErrorState } from "@/ui";
import { plural } from "@/lib/format";

import { useGenerateContracts, useStopGeneration, type Generation, type GenerationOrder } from "./contract_queries";
import { TITLES } from "./contract_text";

export interface GenerationBarProps {
  project: string;
  generation: Generation | null;
  /** Whether the questions are shown. */
  asking: boolean;
  onAsk: () => void;
}

export const isActive = (generation: Generation | null) => generation !== null && ["queued", "waiting", "running"].includes(generation.state);

/** Begins, shows and stops the run that writes contracts. */
export function GenerationBar({ project, generation, asking, onAsk }: GenerationBarProps) {
  const generate = useGenerateContracts(project);
  const stop = useStopGeneration(project);
  const [order, setOrder] = useState<GenerationOrder | null>(null);
  const begin = (wanted: GenerationOrder) =>
    generate.mutate(wanted, {
      onSuccess: () => setOrder(null),
      onError: (error) => setOrder(isProblem(error, "contract_edited") ? wanted : null),
    });
  const active = isActive(generation);
  const asked = order !== null && generate.isError;
  return (
    <div className="flex flex-col gap-2 px-2 pb-2">
      <div className="flex flex-wrap gap-1">
        {active ? (
          <Button small icon={CircleStop} busy={stop.isPending} onClick={() => stop.mutate()}>
            Stop
          </Button>
        ) : (
          <Button small kind="primary" icon={Sparkles} busy={generate.isPending} onClick={() => begin({})}>
            Generate
          </Button>
        )}
        <Button small kind="quiet" icon={ListChecks} aria-pressed={asking} onClick={onAsk} className="aria-pressed:bg-surface-2">
          Questions
        </Button>
      </div>
      {generation !== null && <Progress generation={generation} />}
      {generate.isError && !asked && <ErrorState error={generate.error} />}
      <Dialog
        open={asked}
        onClose={() => setOrder(null)}
        title="Overwrite edited contracts?"
        about={generate.error?.message}
        actions={
          <>
            <Button onClick={() => setOrder(null)}>Cancel</Button>
            <Button onClick={() => begin({ ...order, edited: "keep" })}>Keep them</Button>
            <Button kind="danger" onClick={() => begin({ ...order, edited: "overwrite" })}>
              Overwrite
            </Button>
          </>
        }
      >
        <p>Their versions stay in the history.</p>
      </Dialog>
    </div>
  );
}

function Progress({ generation }: { generation: Generation }) {
  const total = generation.contracts.length;
  const done = generation.contracts.filter(({ state }) => ["saved", "draft", "kept"].includes(state)).length;
  const now = generation.contracts.find(({ state }) => state === "generating");
  const tokens = generation.input_tokens + generation.output_tokens;
  return (
    <div className="flex flex-col gap-1 text-xs text-muted tabular-nums">
      {isActive(generation) && <progress aria-label="Contracts written" max={total} value={done} className="h-1.5 w-full" />}
      <p role="status">
        {now === undefined ? `${done} of ${total} written` : `${done} of ${total} · writing ${TITLES[now.contract_type].toLowerCase()}`} by {generation.model}
      </p>
      {tokens > 0 && (
        <p>
          {plural(tokens, "token")} <Cost dollars={generation.cost} />
        </p>
      )}
      {generation.problem !== "" && <p className="text-bad">{generation.problem}</p>}
    </div>
  );
}
