import { Link } from "@tanstack/react-router";
import { useState } from "react";

import { usePrompts, type Prompt } from "@/api";
import { classNames } from "@/lib/class_names";
import { settingsPlace } from "@/lib/places";
import { Badge, ErrorState, Input, Skeleton } from "@/ui";

import { PromptView } from "./PromptView";

const WORDS: Record<Prompt["origin"], string | null> = { default: null, override: "changed", own: "your own" };

/** The list on the left, one of them on the right. The name in the address is the one that is open. */
export function Prompts({ wanted }: { wanted: string | undefined }) {
  const { data, error, refetch } = usePrompts();
  const [filter, setFilter] = useState("");
  if (data === undefined) return error === null ? <Skeleton lines={6} /> : <ErrorState error={error} onRetry={() => void refetch()} />;
  const open = data.find((each) => each.name === wanted) ?? data[0];
  const shown = data.filter((each) => each.name.includes(filter.trim().toLowerCase()));
  return (
    <div className="flex min-h-110 flex-1 overflow-hidden rounded-md border border-line max-lg:flex-col">
      <nav aria-label="Prompts" className="flex w-55 shrink-0 flex-col border-r border-line bg-surface-1 max-lg:w-full max-lg:border-r-0 max-lg:border-b">
        <div className="p-2">
          <Input aria-label="Find a prompt" placeholder="Find a prompt" value={filter} onChange={(event) => setFilter(event.target.value)} />
        </div>
        <ul className="min-h-0 flex-1 overflow-auto pb-2 max-lg:max-h-40">
          {shown.map((prompt) => (
            <li key={prompt.name}>
              <Link
                {...settingsPlace("prompts")}
                hash={prompt.name}
                replace
                aria-current={prompt === open ? "true" : undefined}
                className={classNames("focus-inset mx-1.5 flex h-7 items-center gap-2 rounded-md px-2 hover:bg-surface-2", prompt === open && "bg-surface-2 font-medium")}
              >
                <span className="min-w-0 flex-1 truncate">{prompt.name}</span>
                {prompt.problem !== "" ? <Badge meaning="bad">unusable</Badge> : WORDS[prompt.origin] !== null && <Badge meaning="attention">{WORDS[prompt.origin]}</Badge>}
              </Link>
            </li>
          ))}
          {shown.length === 0 && <li className="px-3 py-1 text-muted">No prompt has this name.</li>}
        </ul>
      </nav>
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">{open !== undefined && <PromptView key={open.name} prompt={open} />}</div>
    </div>
  );
}
