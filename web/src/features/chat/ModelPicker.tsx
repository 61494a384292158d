import { ChevronDown, Cpu } from "lucide-react";

import { Menu, type MenuEntry } from "@/ui";

import type { Answerers } from "./models";

/** Who answers, with prices for a million tokens. */
export function ModelPicker({ answerers, onSettings }: { answerers: Answerers; onSettings: () => void }) {
  const { choices, chosen, choose } = answerers;
  const entries: MenuEntry[] = [
    { heading: "Answers on this branch (price per million tokens)" },
    ...choices.map((choice) => ({
      label: choice.price === "" ? choice.label : `${choice.label} · ${choice.price}`,
      checked: choice.value === chosen?.value,
      onSelect: () => choose(choice.value),
    })),
    null,
    { label: "Set up models", onSelect: onSettings },
  ];
  return (
    <Menu entries={entries} side="top">
      <button
        type="button"
        aria-label={`Model: ${chosen?.label ?? "not known yet"}`}
        title={chosen?.price}
        className="flex h-7 min-w-0 items-center gap-1.5 rounded-md px-2 text-xs text-muted hover:bg-surface-2 hover:text-text"
      >
        <Cpu aria-hidden size={13} className="shrink-0" />
        <span className="truncate">{chosen?.label.replace(/^[a-z-]+:/, "") ?? "Model"}</span>
        <ChevronDown aria-hidden size={12} className="shrink-0" />
      </button>
    </Menu>
  );
}
