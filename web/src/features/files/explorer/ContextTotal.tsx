import { useModels } from "@/api";
import { cost, counted, plural } from "@/lib/format";
import { Tooltip } from "@/ui";

import type { ContextMarks } from "./marks";

/** Prices are for a million tokens. */
const PRICED = 1_000_000;

function usePrice(model: string | null): number | null {
  const { data } = useModels();
  return data?.providers.find((each) => each.model !== null && (each.model === model || `${each.name}:${each.model}` === model))?.input_price ?? null;
}

/** Under the tree: what the next prompt holds before a word is said, and what that costs. */
export function ContextTotal({ marks }: { marks: ContextMarks }) {
  const price = usePrice(marks.model);
  const { total, files } = marks;
  const dollars = total === null || price === null ? null : (total * price) / PRICED;
  const chosen = [...files.values()].filter((file) => !file.fixed).length;
  const sent = total === null ? "" : ` The next prompt has about ${counted(total, "token")} before your message${dollars === null ? "" : `, at most ${cost(dollars)}; what was sent before costs less`}.`;
  const given = `${plural(files.size, "file")} in context: the agent has ${files.size === 1 ? "it" : "them"} from the start.`;
  return (
    <Tooltip side="top" text={`${files.size === 0 ? "" : `${given} `}${chosen === 0 ? "The agent reads other files when it needs them. Mark files here to give them to it from the start." : ""}${sent}`.trim()}>
      <button
        type="button"
        className="focus-inset flex h-7 w-full shrink-0 cursor-default items-center gap-2 border-t border-line px-3 text-left text-xs text-muted"
      >
        <span className="min-w-0 flex-1 truncate">{files.size === 0 ? "No files in context" : `${plural(files.size, "file")} in context`}</span>
        {total !== null && <span className="shrink-0">{`${counted(total, "token")}${dollars === null ? "" : ` ≈ ${cost(dollars)}`}`}</span>}
      </button>
    </Tooltip>
  );
}
