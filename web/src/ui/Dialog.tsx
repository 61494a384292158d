import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { useState, type ReactNode } from "react";

import { classNames } from "@/lib/class_names";

import { Button, IconButton } from "./Button";

export interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: ReactNode;
  /** One sentence below the title. */
  about?: ReactNode;
  children?: ReactNode;
  /** Buttons; the one that acts comes last. */
  actions?: ReactNode;
  size?: "small" | "medium" | "large";
}

const WIDTH = { small: "max-w-104", medium: "max-w-150", large: "max-w-250" };

/** For decisions that cannot be undone, and for small forms. Escape closes it, focus goes back where it came from. */
export function Dialog({ open, onClose, title, about, children, actions, size = "small" }: DialogProps) {
  return (
    <Radix.Root open={open} onOpenChange={(is) => !is && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 animate-appear bg-shade" />
        <Radix.Content
          onOpenAutoFocus={(event) => {
            // Not the close button, which would show its tooltip; fields that want the focus have it by now.
            event.preventDefault();
            if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus();
          }}
          {...(about === undefined ? { "aria-describedby": undefined } : {})}
          className={classNames(
            "floating outline-none fixed top-[12vh] left-1/2 z-40 flex max-h-[80vh] w-[calc(100vw-32px)] -translate-x-1/2 animate-appear flex-col",
            WIDTH[size],
          )}
        >
          <header className="flex items-start gap-2 px-4 pt-3">
            <div className="min-w-0 flex-1">
              <Radix.Title className="text-lg font-semibold break-words">{title}</Radix.Title>
              {about !== undefined && <Radix.Description className="text-muted">{about}</Radix.Description>}
            </div>
            <IconButton icon={X} label="Close" small onClick={onClose} />
          </header>
          <div className="min-h-0 flex-1 overflow-auto px-4 py-3">{children}</div>
          {actions !== undefined && (
            <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-4 py-3">{actions}</footer>
          )}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

export interface ConfirmProps {
  open: boolean;
  onClose: () => void;
  title: string;
  about: ReactNode;
  /** What the button does: "Delete ai/first". */
  action: string;
  danger?: boolean;
  /** Closes when it is done; what it throws is shown. */
  onConfirm: () => unknown;
}

export function Confirm({ open, onClose, title, about, action, danger = true, onConfirm }: ConfirmProps) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const confirm = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      await onConfirm();
      onClose();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={title}
      about={about}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind={danger ? "danger" : "primary"} busy={busy} onClick={() => void confirm()}>
            {action}
          </Button>
        </>
      }
    >
      {problem !== undefined && (
        <p role="alert" className="text-bad">
          {problem}
        </p>
      )}
    </Dialog>
  );
}
