import { useId, type InputHTMLAttributes, type ReactNode, type Ref, type TextareaHTMLAttributes } from "react";

import { classNames } from "@/lib/class_names";

const BOX =
  "w-full rounded-md border border-line bg-surface-0 px-2 transition-colors aria-invalid:border-bad " +
  "focus-visible:outline-2 focus-visible:-outline-offset-1 disabled:opacity-60 read-only:bg-surface-1";

export interface FieldParts {
  /** Shown above; use `aria-label` instead where the place makes it plain. */
  label?: ReactNode;
  /** Below: what it is for. */
  hint?: ReactNode;
  /** Below, instead of the hint: what is wrong. */
  problem?: string | undefined;
}

function Framed({ id, label, hint, problem, children }: FieldParts & { id: string; children: ReactNode }) {
  const below = problem ?? hint;
  return (
    <div className="flex min-w-0 flex-col gap-1">
      {label !== undefined && (
        <label htmlFor={id} className="text-xs font-medium">
          {label}
        </label>
      )}
      {children}
      {below !== undefined && below !== "" && (
        <p id={`${id}-below`} className={classNames("text-xs", problem === undefined ? "text-muted" : "text-bad")}>
          {below}
        </p>
      )}
    </div>
  );
}

export interface InputProps extends FieldParts, InputHTMLAttributes<HTMLInputElement> {
  ref?: Ref<HTMLInputElement>;
}

export function Input({ label, hint, problem, className, id: given, ...rest }: InputProps) {
  const made = useId();
  const id = given ?? made;
  return (
    <Framed id={id} label={label} hint={hint} problem={problem}>
      <input
        id={id}
        spellCheck={false}
        autoComplete="off"
        aria-invalid={problem !== undefined || undefined}
        aria-describedby={(problem ?? hint) === undefined ? undefined : `${id}-below`}
        className={classNames(BOX, "h-8", className)}
        {...rest}
      />
    </Framed>
  );
}

export interface TextAreaProps extends FieldParts, TextareaHTMLAttributes<HTMLTextAreaElement> {
  ref?: Ref<HTMLTextAreaElement>;
  /** Grows with its text up to this many lines; `rows` is the least. */
  most?: number;
}

export function TextArea({ label, hint, problem, className, id: given, most = 12, style, ...rest }: TextAreaProps) {
  const made = useId();
  const id = given ?? made;
  return (
    <Framed id={id} label={label} hint={hint} problem={problem}>
      <textarea
        id={id}
        rows={3}
        aria-invalid={problem !== undefined || undefined}
        aria-describedby={(problem ?? hint) === undefined ? undefined : `${id}-below`}
        className={classNames(BOX, "field-sizing-content resize-none py-1.5", className)}
        style={{ maxHeight: `${most * 20 + 14}px`, ...style }}
        {...rest}
      />
    </Framed>
  );
}
