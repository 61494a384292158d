import { classNames } from "@/lib/class_names";

export interface Typing {
  typed: string;
  onTyped: (typed: string) => void;
  onClose: () => void;
  /** Enter was pressed before the list was there. */
  onEnter?: () => void;
}

export interface EarlyFieldProps extends Typing {
  label: string;
  className: string;
}

/** The field of a dialog that is still being fetched: it has the focus at once, so that no letter is lost. */
export function EarlyField({ label, typed, onTyped, onClose, onEnter, className }: EarlyFieldProps) {
  return (
    <>
      <div aria-hidden className="fixed inset-0 z-40 bg-shade" onClick={onClose} />
      <div role="dialog" aria-label={label} data-state="open" className={classNames("floating fixed left-1/2 z-40 -translate-x-1/2 overflow-hidden", className)}>
        <input
          aria-label={label}
          spellCheck={false}
          autoComplete="off"
          autoFocus
          value={typed}
          onChange={(event) => onTyped(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") onClose();
            if (event.key === "Enter") onEnter?.();
          }}
          className="h-10 w-full bg-transparent px-3 outline-none"
        />
      </div>
    </>
  );
}
