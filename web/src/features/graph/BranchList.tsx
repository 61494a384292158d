import { CircleAlert, CircleCheck, GitBranch, History } from "lucide-react";
import { memo, useState } from "react";

import { useIndicators, useAbandonedTips, type Branch, type Shapes } from "@/api";
import { classNames } from "@/lib/class_names";
import { plural, shortId } from "@/lib/format";
import { Button, ContextMenu, Tooltip, type MenuEntry } from "@/ui";

import { lightOf, type Light } from "./offers";

export interface BranchListProps {
  repo: string;
  branches: readonly Branch[];
  /** Something is held over this one. */
  over: { branch: string; light: Light | "checking" } | null;
  onReveal: (commit: string) => void;
  onRestore: (kept: Shapes["KeptShape"]) => void;
  entriesFor: (branch: string) => MenuEntry[];
}

type Indicator = Shapes["IndicatorShape"];

function Indication({ indicator, target }: { indicator: Indicator | undefined; target: string }) {
  if (indicator === undefined) return null;
  const light = lightOf(indicator.state);
  if (light === "none") return <span className="text-xs text-muted">merged</span>;
  const Icon = light === "good" ? CircleCheck : CircleAlert;
  const said = indicator.state === "damaged" ? "A part of its history cannot be read" : light === "good" ? `Merges into ${target} without conflicts` : `${plural(indicator.paths.length, "file")} in conflict with ${target}`;
  return (
    <span title={[said, ...indicator.paths.slice(0, 10)].join("\n")} className="flex shrink-0">
      <Icon aria-label={said} role="img" size={14} className={light === "good" ? "text-good" : "text-attention"} />
    </span>
  );
}

const OVER = { good: "outline-good", attention: "outline-attention", none: "outline-muted outline-dashed", checking: "outline-muted outline-dotted" };

/** All branches, with a green or yellow mark for a merge into the default one. They can be taken and dropped upon. */
export const BranchList = memo(function BranchList({ repo, branches, over, onReveal, onRestore, entriesFor }: BranchListProps) {
  const target = branches.find((branch) => branch.is_default)?.name ?? "";
  const { data: indicators } = useIndicators(repo, target, target !== "");
  const byName = new Map(indicators?.map((each) => [each.branch, each]));
  return (
    <nav data-edge-scroll aria-label="Branches of the graph" className="flex h-full flex-col overflow-y-auto py-1">
      <h2 className="px-3 py-1 text-xs font-semibold text-muted">{plural(branches.length, "branch", "branches")}</h2>
      <ul className="flex flex-col">
        {branches.map((branch) => (
          <ContextMenu key={branch.name} entries={entriesFor(branch.name)}>
            <li>
              <button
                type="button"
                data-take={branch.name}
                data-drop={branch.name}
                onClick={() => onReveal(branch.commit)}
                className={classNames(
                  "focus-inset flex h-7 w-full cursor-grab touch-none items-center gap-1.5 px-3 text-left hover:bg-surface-2",
                  over?.branch === branch.name && `-outline-offset-2 outline-2 ${OVER[over.light]}`,
                )}
              >
                {branch.ai ? (
                  <span aria-hidden className="w-3.5 shrink-0 text-center text-accent">
                    ✦
                  </span>
                ) : (
                  <GitBranch aria-hidden size={14} className="shrink-0 text-muted" />
                )}
                <span title={branch.name} className={classNames("min-w-0 flex-1 truncate", branch.is_default && "font-semibold")}>
                  {branch.name}
                </span>
                {branch.damage === null ? (
                  <Indication indicator={byName.get(branch.name)} target={target} />
                ) : (
                  <span title={branch.damage} className="flex shrink-0">
                    <CircleAlert aria-label={`Damaged. ${branch.damage}`} role="img" size={14} className="text-bad" />
                  </span>
                )}
              </button>
            </li>
          </ContextMenu>
        ))}
      </ul>
      <Kept repo={repo} onReveal={onReveal} onRestore={onRestore} />
    </nav>
  );
});

const FIRST = 5;

function Kept({ repo, onReveal, onRestore }: Pick<BranchListProps, "repo" | "onReveal" | "onRestore">) {
  const { data } = useAbandonedTips(repo);
  const [all, setAll] = useState(false);
  if (data === undefined || data.length === 0) return null;
  return (
    <section aria-label="Abandoned tips" className="mt-2 border-t border-line pt-1">
      <h2 className="px-3 py-1 text-xs font-semibold text-muted">{plural(data.length, "abandoned tip")}</h2>
      <ul>
        {data.slice(0, all ? undefined : FIRST).map((kept) => (
          <li key={kept.name} className="flex items-center gap-1 pr-2 hover:bg-surface-2">
            <Tooltip text={`${kept.name}: ${kept.subject}`}>
              <button
                type="button"
                onClick={() => onReveal(kept.commit)}
                className="focus-inset flex h-7 min-w-0 flex-1 items-center gap-1.5 pl-3 text-left text-muted"
              >
                <History aria-hidden size={14} className="shrink-0" />
                <span className="truncate">{kept.subject || shortId(kept.commit)}</span>
              </button>
            </Tooltip>
            <Button small kind="quiet" aria-label={`Restore ${kept.name}`} onClick={() => onRestore(kept)}>
              Restore
            </Button>
          </li>
        ))}
      </ul>
      {data.length > FIRST && (
        <Button small kind="quiet" className="mx-2" onClick={() => setAll((now) => !now)}>
          {all ? "Show fewer" : `Show all ${data.length}`}
        </Button>
      )}
    </section>
  );
}
