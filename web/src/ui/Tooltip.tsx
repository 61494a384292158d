import { Tooltip as Radix } from "radix-ui";
import type { ReactNode } from "react";

import { Kbd } from "./Kbd";

export const TooltipProvider = Radix.Provider;

export interface TooltipProps {
  text: ReactNode;
  keys?: string | undefined;
  side?: "top" | "right" | "bottom" | "left";
  /** One element that can have the focus. */
  children: ReactNode;
}

export function Tooltip({ text, keys, side = "bottom", children }: TooltipProps) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          side={side}
          sideOffset={4}
          collisionPadding={8}
          className="floating z-50 flex max-w-80 animate-appear items-center gap-2 px-2 py-1 text-xs break-words"
        >
          {text}
          {keys !== undefined && <Kbd keys={keys} />}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
