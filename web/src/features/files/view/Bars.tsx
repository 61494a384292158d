import { Link } from "@tanstack/react-router";
import { Clock, FileWarning, GitCommitVertical, Lock, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

import { classNames } from "@/lib/class_names";
import { branchPlace } from "@/lib/places";
import { Button } from "@/ui";

function Bar({ icon: Icon, children, tone, actions }: { icon: LucideIcon; children: ReactNode; tone: string; actions?: ReactNode }) {
  return (
    <div role="status" className="flex min-h-8 shrink-0 flex-wrap items-center gap-x-2 gap-y-1 border-b border-line bg-surface-1 px-3 py-1 text-xs">
      <Icon aria-hidden size={14} className={classNames("shrink-0", tone)} />
      <span className="min-w-0 flex-1 break-words">{children}</span>
      {actions}
    </div>
  );
}

/** While a turn works on the branch, its files are to read only. */
export function BusyBar({ repo, branch, who, unsaved }: { repo: string; branch: string; who: string; unsaved: boolean }) {
  return (
    <Bar
      icon={Lock}
      tone="text-running"
      actions={
        <Link {...branchPlace({ repo, branch, tab: "chat" })} className="font-medium text-accent underline">
          Watch
        </Link>
      }
    >
      An agent works on this branch ({who}). Files are read-only until the turn ends.{unsaved && " What you typed is kept."}
    </Bar>
  );
}

export function PastBar({ commit }: { commit: string }) {
  return (
    <Bar icon={Clock} tone="text-attention">
      This is the file as it was at {commit}. It cannot be changed here.
    </Bar>
  );
}

export function PartedBar({ gone, onCompare }: { gone: boolean; onCompare: () => void }) {
  return (
    <Bar icon={FileWarning} tone="text-attention" actions={<Button small onClick={onCompare}>Compare and decide</Button>}>
      {gone ? "This file was deleted on the branch while you have unsaved changes." : "This file changed on the branch while you have unsaved changes."}
    </Bar>
  );
}

export interface UnseenBarProps {
  by: string | undefined;
  onNext: () => void;
  onSeen: () => void;
}

export function UnseenBar({ by, onNext, onSeen }: UnseenBarProps) {
  return (
    <Bar
      icon={GitCommitVertical}
      tone="text-running"
      actions={
        <>
          <Button small kind="quiet" onClick={onNext}>
            Next change
          </Button>
          <Button small onClick={onSeen}>
            Mark as seen
          </Button>
        </>
      }
    >
      {by === undefined ? "This file changed" : `${by} changed this file`} while it was open.
    </Bar>
  );
}
