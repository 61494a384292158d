import type { LucideIcon } from "lucide-react";
import { Check } from "lucide-react";
import { ContextMenu as RadixContext, DropdownMenu as RadixMenu } from "radix-ui";
import type { ReactNode } from "react";

import { classNames } from "@/lib/class_names";

import { Kbd } from "./Kbd";

export interface MenuItem {
  label: string;
  icon?: LucideIcon;
  keys?: string;
  onSelect: () => void;
  disabled?: boolean;
  danger?: boolean;
  /** Given: the item is a choice, with a mark when true. */
  checked?: boolean;
}

/** `null` is a line between groups; `{ heading }` names a group. */
export type MenuEntry = MenuItem | { heading: string } | null;

const CONTENT = "floating z-50 min-w-44 max-w-90 animate-appear overflow-y-auto p-1 max-h-(--radix-popper-available-height)";
const ITEM =
  "flex h-7 cursor-default items-center gap-2 rounded-sm px-2 outline-none select-none " +
  "data-highlighted:bg-surface-2 data-disabled:opacity-50";

type Parts = typeof RadixMenu | typeof RadixContext;

function Entries({ parts, entries }: { parts: Parts; entries: MenuEntry[] }) {
  return entries.map((entry, i) => {
    if (entry === null) return <parts.Separator key={i} className="my-1 border-t border-line" />;
    if ("heading" in entry) {
      return (
        <parts.Label key={i} className="px-2 py-1 text-xs text-muted">
          {entry.heading}
        </parts.Label>
      );
    }
    const Icon = entry.checked === true ? Check : entry.icon;
    const inside = (
      <>
        <span className="flex w-4 shrink-0 justify-center">{Icon && <Icon aria-hidden size={14} />}</span>
        <span className="min-w-0 flex-1 truncate">{entry.label}</span>
        {entry.keys !== undefined && <Kbd keys={entry.keys} />}
      </>
    );
    const shared = {
      className: classNames(ITEM, entry.danger && "text-bad"),
      disabled: entry.disabled ?? false,
      onSelect: entry.onSelect,
    };
    return entry.checked === undefined ? (
      <parts.Item key={i} {...shared}>
        {inside}
      </parts.Item>
    ) : (
      <parts.CheckboxItem key={i} checked={entry.checked} {...shared}>
        {inside}
      </parts.CheckboxItem>
    );
  });
}

export interface MenuProps {
  entries: MenuEntry[];
  /** The button that opens it. */
  children: ReactNode;
  align?: "start" | "end";
  side?: "top" | "right" | "bottom" | "left";
}

export function Menu({ entries, children, align = "start", side = "bottom" }: MenuProps) {
  return (
    <RadixMenu.Root modal={false}>
      <RadixMenu.Trigger asChild>{children}</RadixMenu.Trigger>
      <RadixMenu.Portal>
        <RadixMenu.Content align={align} side={side} sideOffset={4} collisionPadding={8} className={CONTENT}>
          <Entries parts={RadixMenu} entries={entries} />
        </RadixMenu.Content>
      </RadixMenu.Portal>
    </RadixMenu.Root>
  );
}

/** On right click, long press, and the keyboard's menu key. What it offers must be reachable otherwise as well. */
export function ContextMenu({ entries, children }: Pick<MenuProps, "entries" | "children">) {
  return (
    <RadixContext.Root modal={false}>
      <RadixContext.Trigger asChild>{children}</RadixContext.Trigger>
      <RadixContext.Portal>
        <RadixContext.Content collisionPadding={8} className={CONTENT}>
          <Entries parts={RadixContext} entries={entries} />
        </RadixContext.Content>
      </RadixContext.Portal>
    </RadixContext.Root>
  );
}
