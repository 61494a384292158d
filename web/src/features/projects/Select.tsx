import { useId } from "react";

export interface SelectOption {
  value: string;
  label: string;
  title?: string;
  disabled?: boolean;
}

export interface SelectProps {
  label: string;
  value: string;
  options: readonly SelectOption[];
  onChange: (value: string) => void;
  hint?: string | undefined;
}

/** The browser's own: it works by keyboard and touch everywhere. */
export function Select({ label, value, options, onChange, hint }: SelectProps) {
  const id = useId();
  return (
    <div className="flex min-w-0 flex-1 flex-col gap-1">
      <label htmlFor={id} className="text-xs font-medium">
        {label}
      </label>
      <select
        id={id}
        value={value}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        onChange={(event) => onChange(event.target.value)}
        className="h-8 w-full min-w-0 rounded-md border border-line bg-surface-0 px-2"
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} title={option.title} disabled={option.disabled}>
            {option.label}
          </option>
        ))}
      </select>
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-xs text-muted">
          {hint}
        </p>
      )}
    </div>
  );
}
