import { CircleAlert, CircleCheck, CircleDot, CircleX, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

import { classNames } from "@/lib/class_names";

export type Meaning = "running" | "good" | "attention" | "bad";

const LOOK: Record<Meaning, { icon: LucideIcon; color: string }> = {
  running: { icon: CircleDot, color: "text-running" },
  good: { icon: CircleCheck, color: "text-good" },
  attention: { icon: CircleAlert, color: "text-attention" },
  bad: { icon: CircleX, color: "text-bad" },
};

export interface BadgeProps {
  meaning: Meaning;
  /** The word: meaning is never told by colour alone. */
  children: ReactNode;
  icon?: LucideIcon;
  className?: string;
}

export function Badge({ meaning, children, icon, className }: BadgeProps) {
  const { color, icon: usual } = LOOK[meaning];
  const Icon = icon ?? usual;
  return (
    <span className={classNames("inline-flex items-center gap-1 text-xs whitespace-nowrap", color, className)}>
      <Icon aria-hidden size={13} />
      {children}
    </span>
  );
}

export interface ChipProps {
  children: ReactNode;
  icon?: LucideIcon;
  /** Given: the chip is a button. */
  onClick?: () => void;
  pressed?: boolean;
  disabled?: boolean;
}

export function Chip({ children, icon: Icon, onClick, pressed, disabled }: ChipProps) {
  const look = classNames(
    "inline-flex h-6 max-w-full items-center gap-1 rounded-full border border-line bg-surface-1 px-2 text-xs",
    pressed && "border-accent text-accent",
  );
  const inside = (
    <>
      {Icon && <Icon aria-hidden size={13} className="shrink-0" />}
      <span className="truncate">{children}</span>
    </>
  );
  if (onClick === undefined) return <span className={look}>{inside}</span>;
  return (
    <button
      type="button"
      aria-pressed={pressed}
      disabled={disabled}
      onClick={onClick}
      className={classNames(look, "transition-colors hover:bg-surface-2 disabled:opacity-50")}
    >
      {inside}
    </button>
  );
}
