import type { LucideIcon } from "lucide-react";
import type { ButtonHTMLAttributes, Ref } from "react";

import { classNames } from "@/lib/class_names";

import { Tooltip } from "./Tooltip";

type Kind = "primary" | "plain" | "quiet" | "danger";

const LOOK: Record<Kind, string> = {
  primary: "bg-accent-fill text-on-accent hover:brightness-110",
  plain: "border border-line bg-surface-0 hover:bg-surface-2",
  quiet: "hover:bg-surface-2",
  danger: "bg-bad-fill text-on-accent hover:brightness-110",
};

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: Kind;
  small?: boolean;
  icon?: LucideIcon;
  /** Waits for an answer: it cannot be pressed again, and keeps its words. */
  busy?: boolean;
  ref?: Ref<HTMLButtonElement>;
}

/** Its words say what happens: "Merge into main". */
export function Button({ kind = "plain", small, icon: Icon, busy, className, children, disabled, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      aria-busy={busy}
      disabled={disabled === true || busy === true}
      className={classNames(
        "inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap transition-colors",
        "disabled:opacity-50",
        small ? "h-6 px-2 text-xs" : "h-8 px-3",
        LOOK[kind],
        className,
      )}
      {...rest}
    >
      {Icon && <Icon aria-hidden size={small ? 13 : 15} />}
      {children}
    </button>
  );
}

export interface IconButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "children"> {
  icon: LucideIcon;
  /** Said by screen readers and shown in the tooltip. */
  label: string;
  keys?: string | undefined;
  small?: boolean;
  pressed?: boolean;
  ref?: Ref<HTMLButtonElement>;
}

export function IconButton({ icon: Icon, label, keys, small, pressed, className, ...rest }: IconButtonProps) {
  return (
    <Tooltip text={label} keys={keys}>
      <button
        type="button"
        aria-label={label}
        aria-pressed={pressed}
        className={classNames(
          "inline-flex shrink-0 items-center justify-center rounded-md text-muted transition-colors",
          "hover:bg-surface-2 hover:text-text disabled:opacity-50 aria-pressed:bg-surface-2 aria-pressed:text-text",
          small ? "size-6" : "size-8",
          className,
        )}
        {...rest}
      >
        <Icon aria-hidden size={small ? 14 : 16} />
      </button>
    </Tooltip>
  );
}
