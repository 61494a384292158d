/** What stands where a list or a screen has nothing to show: not yet, nothing, or not possible. */
import { CircleX, TriangleAlert, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

import { classNames } from "@/lib/class_names";

import { Button } from "./Button";
import { InlineCode } from "./InlineCode";

export interface EmptyStateProps {
  icon?: LucideIcon;
  title?: string;
  /** One sentence that says what to do next. */
  children: ReactNode;
  /** One button. */
  action?: ReactNode;
}

export function EmptyState({ icon: Icon, title, children, action }: EmptyStateProps) {
  return (
    <div className="mx-auto flex max-w-100 flex-col items-center gap-2 px-4 py-10 text-center text-muted">
      {Icon && <Icon aria-hidden size={24} strokeWidth={1.5} />}
      {title !== undefined && <h2 className="text-lg font-medium text-text">{title}</h2>}
      <p>{children}</p>
      {action !== undefined && <div className="mt-2 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}

export interface ErrorStateProps {
  /** An `ApiProblem` shows its hint as well. */
  error: unknown;
  onRetry?: (() => void) | undefined;
  /** A line instead of a block. */
  compact?: boolean;
}

export function ErrorState({ error, onRetry, compact }: ErrorStateProps) {
  const message = error instanceof Error ? error.message : String(error);
  const hint = typeof error === "object" && error !== null && "hint" in error ? String(error.hint) : "";
  return (
    <div
      role="alert"
      className={classNames("flex gap-2 text-sm", compact ? "items-start px-3 py-2" : "mx-auto max-w-125 px-4 py-10")}
    >
      <CircleX aria-hidden size={16} className="mt-0.5 shrink-0 text-bad" />
      <div className="min-w-0 break-words">
        <p>{message}</p>
        {hint !== "" && <p className="text-muted"><InlineCode text={hint} /></p>}
        {onRetry && (
          <Button small className="mt-2" onClick={onRetry}>
            Try again
          </Button>
        )}
      </div>
    </div>
  );
}

/** Projects that are there and cannot be read, each with a sentence. */
export function Unreadable({ sentences }: { sentences: readonly string[] }) {
  if (sentences.length === 0) return null;
  return (
    <div role="alert" className="flex gap-2 border-b border-line bg-surface px-4 py-2 text-sm">
      <TriangleAlert aria-hidden size={16} className="mt-0.5 shrink-0 text-attention" />
      <div className="min-w-0 break-words">
        {sentences.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
        <p className="text-muted">
          <InlineCode text="Not shown below; nothing of it was changed. `forge doctor` says more." />
        </p>
      </div>
    </div>
  );
}

/** Quiet lines where text will come. */
export function Skeleton({ lines = 3, label = "Loading" }: { lines?: number; label?: string }) {
  return (
    <div role="status" aria-label={label} className="flex flex-col gap-2.5 px-3 py-2.5">
      {Array.from({ length: lines }, (_, i) => (
        <div key={i} className="h-3 rounded-sm bg-surface-2" style={{ width: `${85 - ((i * 29) % 50)}%` }} />
      ))}
    </div>
  );
}

/** A thin moving line at the top edge of what is being fetched or done. `value` (0 to 1) where it is known. */
export function ProgressLine({ value, label = "Working" }: { value?: number | undefined; label?: string }) {
  const known = value !== undefined;
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuenow={known ? Math.round(value * 100) : undefined}
      className="h-0.5 w-full overflow-hidden bg-line"
    >
      <div
        className={classNames("h-full bg-running", !known && "w-[30%] animate-slide")}
        style={known ? { width: `${value * 100}%` } : undefined}
      />
    </div>
  );
}
