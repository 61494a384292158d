import { ChevronRight } from "lucide-react";
import { useId, useState, type ReactNode } from "react";

import { classNames } from "@/lib/class_names";

export interface DisclosureProps {
  /** The row itself. */
  children: ReactNode;
  /** Made when it is first opened. */
  content: () => ReactNode;
  label?: string;
}

/** A row that opens to what is behind it. */
export function Disclosure({ children, content, label }: DisclosureProps) {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <div className="-my-0.5 min-w-0">
      <button
        type="button"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-label={label}
        onClick={() => setOpen(!open)}
        className="focus-inset -mx-1.5 flex h-7 w-[calc(100%+12px)] min-w-0 items-center gap-2 rounded-md px-1.5 text-left hover:bg-surface-1"
      >
        <ChevronRight aria-hidden size={13} className={classNames("shrink-0 text-muted transition-transform", open && "rotate-90")} />
        {children}
      </button>
      {open && (
        <div id={id} className="my-1 ml-1.5 border-l border-line pl-4">
          {content()}
        </div>
      )}
    </div>
  );
}
