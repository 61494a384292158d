import { useEffect, useRef, useState } from "react";

export interface NameFieldProps {
  label: string;
  value?: string;
  onDone: (name: string) => void;
  onCancel: () => void;
}

/** A name in its place in the tree. Enter takes it, Escape and leaving it empty or unchanged do not. */
export function NameField({ label, value = "", onDone, onCancel }: NameFieldProps) {
  const [name, setName] = useState(value);
  const field = useRef<HTMLInputElement>(null);
  const finished = useRef(false);
  useEffect(() => {
    const ending = value.lastIndexOf(".");
    field.current?.focus();
    field.current?.setSelectionRange(0, ending > 0 ? ending : value.length);
  }, [value]);
  const finish = (taken: boolean) => {
    if (finished.current) return;
    finished.current = true;
    const clean = name.trim().replace(/^\/+|\/+$/g, "");
    if (taken && clean !== "" && clean !== value) onDone(clean);
    else onCancel();
  };
  return (
    <input
      ref={field}
      aria-label={label}
      spellCheck={false}
      autoComplete="off"
      value={name}
      onChange={(event) => setName(event.target.value)}
      onBlur={() => finish(value !== "")}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Enter") finish(true);
        if (event.key === "Escape") finish(false);
      }}
      onClick={(event) => event.stopPropagation()}
      className="focus-inset h-5 min-w-0 flex-1 rounded-sm border border-line bg-surface-0 px-1"
    />
  );
}
