import { Tabs as Radix } from "radix-ui";
import type { ReactNode } from "react";

import { classNames } from "@/lib/class_names";

export interface Tab<V extends string> {
  value: V;
  label: ReactNode;
  content: ReactNode;
}

export interface TabsProps<V extends string> {
  /** Names the list for screen readers. */
  label: string;
  tabs: Tab<V>[];
  value: V;
  onChange: (value: V) => void;
  /** At the right end of the row. */
  aside?: ReactNode;
}

/** Sections of one thing. (Open files and branches, which can be closed, are the shell's own rows.) */
export function Tabs<V extends string>({ label, tabs, value, onChange, aside }: TabsProps<V>) {
  return (
    <Radix.Root value={value} onValueChange={(next) => onChange(next as V)} className="flex h-full min-h-0 flex-col">
      <div className="flex h-9 shrink-0 items-center border-b border-line px-2">
        <Radix.List aria-label={label} className="flex h-full min-w-0 flex-1 overflow-x-auto">
          {tabs.map((tab) => (
            <Radix.Trigger
              key={tab.value}
              value={tab.value}
              className={classNames(
                "focus-inset flex items-center gap-1.5 border-b-2 border-transparent px-3 whitespace-nowrap text-muted",
                "hover:text-text data-[state=active]:border-accent data-[state=active]:text-text",
              )}
            >
              {tab.label}
            </Radix.Trigger>
          ))}
        </Radix.List>
        {aside}
      </div>
      {tabs.map((tab) => (
        <Radix.Content key={tab.value} value={tab.value} className="focus-inset min-h-0 flex-1 overflow-auto">
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}
