import { ArrowDown } from "lucide-react";
import { memo, useDeferredValue, useEffect, type ReactNode } from "react";

import { Button, ErrorState, Skeleton } from "@/ui";

import type { Conversation } from "./conversation";
import { useFollowing } from "./following";
import type { ShownTurn } from "./parts";
import { TurnView, type TurnCallbacks } from "./TurnView";

export interface TurnListProps {
  repo: string;
  conversation: Conversation;
  /** Not in the branch yet. */
  current: ShownTurn | null;
  locked: boolean;
  on: TurnCallbacks;
  /** Cards after the last turn. */
  children?: ReactNode;
  /** Changes when the person has said something: then the end is what they want to see. */
  said: number;
}

/** All turns, oldest first; those out of sight cost nothing to lay out. */
export const TurnList = memo(function TurnList({ repo, conversation, current, locked, on, children, said }: TurnListProps) {
  // Pages of older turns are drawn in pieces, between what the person does.
  const turns = useDeferredValue(conversation.turns);
  const { hasOlder, loadOlder, loadingOlder } = conversation;
  const { outer, inner, onScroll, atEnd, toEnd } = useFollowing(turns[0]?.mark ?? "", loadOlder);
  useEffect(() => {
    if (said > 0) toEnd();
  }, [said, toEnd]);
  const newest = current ?? turns.at(-1);
  const shown = current === null ? turns : [...turns, current];
  return (
    <div className="relative min-h-0 flex-1">
      {/* The arrow keys scroll it. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div ref={outer} onScroll={onScroll} role="log" aria-label="Conversation" aria-live="off" tabIndex={0} className="focus-inset h-full overflow-y-auto">
        <div ref={inner} className="mx-auto max-w-190 px-5 py-2">
          {loadingOlder && <Skeleton lines={2} label="Loading older turns" />}
          {!loadingOlder && hasOlder && (
            <div className="flex justify-center py-2">
              <Button small kind="quiet" onClick={loadOlder}>
                Show older turns
              </Button>
            </div>
          )}
          {conversation.olderError !== null && <ErrorState compact error={conversation.olderError} onRetry={loadOlder} />}
          {shown.map((turn) => (
            <div key={turn.mark} className={turn === newest ? undefined : "[contain-intrinsic-size:auto_320px] [content-visibility:auto]"}>
              <TurnView repo={repo} turn={turn} isLast={turn === newest} locked={locked} on={on} />
            </div>
          ))}
          {children}
        </div>
      </div>
      {!atEnd && (
        <Button small icon={ArrowDown} onClick={toEnd} className="absolute bottom-3 left-1/2 -translate-x-1/2 shadow-float">
          Jump to the latest
        </Button>
      )}
    </div>
  );
});
