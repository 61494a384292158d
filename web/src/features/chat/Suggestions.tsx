import { useEffect, useRef, type ReactNode } from "react";

import { classNames } from "@/lib/class_names";

export interface Suggestion {
  value: string;
  label: ReactNode;
  about?: string;
}

export interface SuggestionsProps {
  id: string;
  label: string;
  items: Suggestion[];
  active: number;
  empty: string;
  onPick: (value: string) => void;
}

/** A list above the composer; the composer keeps the focus and moves through it. */
export function Suggestions({ id, label, items, active, empty, onPick }: SuggestionsProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [active]);
  return (
    <div className="floating absolute right-0 bottom-full left-0 z-10 mb-1 max-h-66 overflow-y-auto p-1">
      {items.length === 0 && <p className="px-2 py-1 text-muted">{empty}</p>}
      <div ref={list} id={id} role="listbox" aria-label={label}>
        {items.map((item, i) => (
          // The keyboard moves through the list from the composer.
          // eslint-disable-next-line jsx-a11y/click-events-have-key-events
          <div
            key={item.value}
            id={`${id}-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === active}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onPick(item.value)}
            className={classNames("flex h-7 cursor-default items-center gap-2 rounded-sm px-2", i === active && "bg-surface-2")}
          >
            <span className="min-w-0 truncate">{item.label}</span>
            {item.about !== undefined && <span className="ml-auto min-w-0 truncate text-xs text-muted">{item.about}</span>}
          </div>
        ))}
      </div>
    </div>
  );
}
