import { classNames } from "@/lib/class_names";

import type { Exploration } from "./exploration";
import type { RegisterViewProps } from "./Register";

type TreeNode = Exploration["tree"][number];

const LOOK: Record<TreeNode["status"], string> = { active: "", confirmed: "text-good", at_risk: "text-attention", invalidated: "text-bad" };

/** Outcome, opportunity, solution, assumptions: each under what it serves or rests on. */
export function RegisterTree({ known, selected, onSelect }: RegisterViewProps) {
  const under = new Map<string | null, TreeNode[]>();
  for (const node of known.tree) under.set(node.parent, [...(under.get(node.parent) ?? []), node]);
  return (
    <div role="region" aria-label="From outcome to assumption" className="overflow-x-auto rounded-md border border-line p-3">
      <Branch nodes={under.get(null) ?? []} under={under} selected={selected} onSelect={onSelect} />
    </div>
  );
}

interface BranchProps {
  nodes: readonly TreeNode[];
  under: Map<string | null, TreeNode[]>;
  selected: string | undefined;
  onSelect: (id: string) => void;
}

function Branch({ nodes, under, selected, onSelect }: BranchProps) {
  return (
    <ul className="flex flex-col gap-1">
      {nodes.map((node) => {
        const below = under.get(node.id) ?? [];
        return (
          <li key={node.id} className="flex flex-col gap-1">
            {node.kind === "Assumption" ? (
              <button
                type="button"
                aria-pressed={selected === node.id}
                onClick={() => onSelect(node.id)}
                className={classNames(
                  "w-full min-w-40 rounded-sm border px-1.5 py-1 text-left text-xs hover:bg-surface-2",
                  selected === node.id ? "border-accent" : "border-line",
                )}
              >
                <span className="font-medium">{node.label}</span>
                {node.status !== "active" && <span className={LOOK[node.status]}>{` ${node.status.replace("_", " ")}`}</span>} {node.text}
              </button>
            ) : (
              <p className="min-w-40">
                <span className="block text-xs text-muted">{node.kind}</span>
                <span className="line-clamp-3">{node.text}</span>
              </p>
            )}
            {below.length > 0 && (
              <div className="ml-1 border-l border-line pl-3">
                <Branch nodes={below} under={under} selected={selected} onSelect={onSelect} />
              </div>
            )}
          </li>
        );
      })}
    </ul>
  );
}
