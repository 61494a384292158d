import { GitBranch, History, Tag, type LucideIcon } from "lucide-react";

import { classNames } from "@/lib/class_names";

import type { Label, LabelKind } from "./labels";
import type { Light } from "./offers";

const ICONS: Record<LabelKind, LucideIcon | null> = { branch: GitBranch, tag: Tag, remote: GitBranch, kept: History, head: null };
const SPOKEN: Record<LabelKind, string> = { branch: "branch", tag: "tag", remote: "remote branch", kept: "abandoned", head: "" };

export interface RefLabelProps {
  label: Label;
  /** A branch on which agents work. */
  ai?: boolean;
  /** Something is held over it. */
  light?: Light | "checking" | undefined;
}

const LIGHTS = {
  good: "outline-2 outline-good outline-solid",
  attention: "outline-2 outline-attention outline-solid",
  none: "outline-2 outline-muted outline-dashed",
  checking: "outline-2 outline-muted outline-dotted",
};

/** Branches can be taken and dropped upon; what the pointer can do here, the menu of the row does too. */
export function RefLabel({ label, ai = false, light }: RefLabelProps) {
  const Icon = ICONS[label.kind];
  const isBranch = label.kind === "branch";
  return (
    <span
      title={`${SPOKEN[label.kind]} ${label.name}`.trim()}
      data-drop={isBranch ? label.name : undefined}
      data-take={isBranch ? label.name : undefined}
      className={classNames(
        "inline-flex h-5 max-w-48 items-center gap-1 rounded-sm border px-1.5 text-xs",
        isBranch ? "shrink-0" : "min-w-7 shrink",
        isBranch && "cursor-grab touch-none border-line bg-surface-2 font-medium",
        label.kind === "tag" && "border-line text-attention",
        (label.kind === "remote" || label.kind === "head") && "border-line text-muted",
        label.kind === "kept" && "border-dashed border-line text-muted",
        light !== undefined && LIGHTS[light],
      )}
    >
      {ai && <span aria-hidden className="text-accent">✦</span>}
      {!ai && Icon && <Icon aria-hidden size={12} className="shrink-0" />}
      <span className="truncate">{label.kind === "kept" ? label.name.replace(/@[0-9a-f]+$/, "") : label.name}</span>
    </span>
  );
}
