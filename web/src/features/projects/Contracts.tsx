import { History, Pencil, ScanSearch } from "lucide-react";
import { useState } from "react";

import type { Project } from "@/api";
import { classNames } from "@/lib/class_names";
import { Badge, Button, EmptyState, ErrorState, Markdown, RelativeTime, Skeleton } from "@/ui";

import { ContractChanges } from "./ContractChanges";
import { ContractEditor } from "./ContractEditor";
import { ContractLeaks } from "./ContractLeaks";
import { ContractPicture } from "./ContractPicture";
import { ContractQuestions } from "./ContractQuestions";
import { Findings } from "./Findings";
import { GenerationBar, isActive } from "./GenerationBar";
import { useContract, useContractGeneration, useContracts, type Contract, type ContractCard, type ContractType } from "./contract_queries";
import { readable, stateOf, TITLES } from "./contract_text";

type Mode = "text" | "edit" | "history";

/** The nine documents that a build is held to: a card each, and the chosen one beside them. */
export function Contracts({ project }: { project: Project }) {
  const contracts = useContracts(project.id);
  const generation = useContractGeneration(project.id).data ?? null;
  const [chosen, setChosen] = useState<ContractType>("manifesto");
  const [shown, setShown] = useState<"contract" | "questions" | "leaks">("contract");
  const asking = shown === "questions";
  if (contracts.isError) return <ErrorState error={contracts.error} onRetry={() => void contracts.refetch()} />;
  if (contracts.data === undefined) return <Skeleton lines={9} label="Loading the contracts" />;
  const { items, latest_batch } = contracts.data;
  const tasks = new Map(isActive(generation) ? generation?.contracts.map(({ contract_type, state }) => [contract_type, state]) : []);
  return (
    <section aria-label="Contracts" className="flex h-full min-h-0 flex-col md:flex-row">
      <div className="max-h-[40%] shrink-0 overflow-y-auto border-b border-line p-2 md:max-h-none md:w-60 md:border-r md:border-b-0">
        <GenerationBar project={project.id} generation={generation} asking={asking} onAsk={() => setShown(asking ? "contract" : "questions")} />
        <ul className="flex flex-col gap-1" aria-label="Contract">
          {items.map((card) => (
            <li key={card.contract_type}>
              <CardButton
                card={card}
                task={tasks.get(card.contract_type)}
                pressed={shown === "contract" && card.contract_type === chosen}
                onClick={() => {
                  setChosen(card.contract_type);
                  setShown("contract");
                }}
              />
            </li>
          ))}
        </ul>
        {project.branch !== null && (
          <Button small kind="quiet" icon={ScanSearch} aria-pressed={shown === "leaks"} onClick={() => setShown("leaks")} className="mt-2 aria-pressed:bg-surface-2">
            Check for leaks
          </Button>
        )}
        {latest_batch !== null && (
          <p className="px-2 pt-2 text-xs break-words text-muted">
            Pinned by build {project.id}@{latest_batch}
          </p>
        )}
      </div>
      {shown === "questions" && <ContractQuestions project={project.id} />}
      {shown === "leaks" && <ContractLeaks project={project.id} />}
      {shown === "contract" && <ShownContract key={chosen} project={project.id} type={chosen} />}
    </section>
  );
}

interface CardButtonProps {
  card: ContractCard;
  /** What the run that is under way does with it. */
  task: string | undefined;
  pressed: boolean;
  onClick: () => void;
}

function CardButton({ card, task, pressed, onClick }: CardButtonProps) {
  const state = task === "generating" ? ({ meaning: "running", word: "Generating" } as const) : stateOf(card);
  return (
    <button
      type="button"
      aria-pressed={pressed}
      onClick={onClick}
      className={classNames("focus-inset flex w-full flex-col gap-0.5 rounded-md px-2 py-1.5 text-left", pressed ? "bg-surface-2" : "hover:bg-surface-1")}
    >
      <span className="flex w-full items-center justify-between gap-2">
        <span className={classNames("truncate", pressed && "font-medium")}>{TITLES[card.contract_type]}</span>
        {state === null ? <span className="text-xs text-muted">Missing</span> : <Badge meaning={state.meaning}>{state.word}</Badge>}
      </span>
      {card.updated_at !== null && (
        <span className="text-xs text-muted tabular-nums">
          Version {card.version} · <RelativeTime time={card.updated_at} />
          {card.pinned_version === card.version && " · pinned"}
        </span>
      )}
    </button>
  );
}

function ShownContract({ project, type }: { project: string; type: ContractType }) {
  const contract = useContract(project, type);
  const [mode, setMode] = useState<Mode>("text");
  if (contract.isError) return <ErrorState error={contract.error} onRetry={() => void contract.refetch()} />;
  if (contract.data === undefined) return <Skeleton lines={8} label={`Loading ${type}`} />;
  const has = contract.data.version > 0;
  return (
    <div className="flex min-h-0 min-w-0 flex-1 flex-col">
      <div className="flex h-9 shrink-0 items-center gap-1 border-b border-line px-2">
        <h2 className="min-w-0 flex-1 truncate font-medium">{TITLES[type]}</h2>
        <Button small kind="quiet" icon={Pencil} aria-pressed={mode === "edit"} onClick={() => setMode(mode === "edit" ? "text" : "edit")} className="aria-pressed:bg-surface-2">
          {has ? "Edit" : "Write"}
        </Button>
        <Button
          small
          kind="quiet"
          icon={History}
          disabled={!has}
          aria-pressed={mode === "history"}
          onClick={() => setMode(mode === "history" ? "text" : "history")}
          className="aria-pressed:bg-surface-2"
        >
          History
        </Button>
      </div>
      {mode === "edit" && <ContractEditor project={project} contract={contract.data} onDone={() => setMode("text")} />}
      {mode === "history" && <ContractChanges project={project} type={type} />}
      {mode === "text" && (has ? <ContractText project={project} contract={contract.data} /> : <Empty type={type} />)}
    </div>
  );
}

function Empty({ type }: { type: ContractType }) {
  return <EmptyState title={`No ${TITLES[type].toLowerCase()} yet`}>Generate it, or write it: you begin with an example.</EmptyState>;
}

function ContractText({ project, contract }: { project: string; contract: Contract }) {
  const isMarkdown = !["physics", "boundaries"].includes(contract.contract_type);
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it is scrolled, by keyboard too
    <div tabIndex={0} role="region" aria-label="Contract text" className="focus-inset min-h-0 flex-1 overflow-auto">
      <Findings findings={contract.findings} />
      <ContractPicture project={project} type={contract.contract_type} />
      <article aria-label={contract.contract_type} className="mx-auto max-w-[84ch] px-4 py-3">
        {isMarkdown ? <Markdown text={readable(contract.contract_type, contract.content)} /> : <pre className="font-mono text-xs whitespace-pre-wrap">{contract.content}</pre>}
      </article>
    </div>
  );
}
