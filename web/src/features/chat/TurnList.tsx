import { ArrowDown } from "lucide-react";
import { memo, useCallback, useDeferredValue, useEffect, useMemo, useRef, type KeyboardEvent, type ReactNode } from "react";

import { useCommand } from "@/lib/commands";
import { Button, ErrorState, Skeleton } from "@/ui";

import type { Conversation } from "./conversation";
import { useDrawn } from "./drawn";
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

const AT_FIRST = 12;
/** Out of sight it is not laid out; until it was, it counts as so high. */
const FAR = "[contain-intrinsic-size:auto_320px] [content-visibility:auto]";

/** All turns, oldest first; those out of sight cost nothing to lay out. */
export const TurnList = memo(function TurnList({ repo, conversation, current, locked, on, children, said }: TurnListProps) {
  // Pages of older turns are drawn in pieces, between what the person does; one that has just ended takes its own place at once.
  const unhurried = useDeferredValue(conversation.turns);
  const turns = unhurried.at(-1)?.mark === conversation.turns.at(-1)?.mark ? unhurried : conversation.turns;
  const { hasOlder, loadOlder, loadAll, loadingOlder, olderError } = conversation;
  const { outer, inner, onScroll, atEnd, toEnd, toTop } = useFollowing(turns[0]?.mark ?? "", loadOlder);
  const marks = useMemo(() => turns.map((turn) => turn.mark), [turns]);
  const isDrawn = useDrawn(outer, marks, AT_FIRST);
  const isSettled = turns === conversation.turns;
  const wantsTop = useRef(false);
  const leave = useCallback(() => {
    wantsTop.current = false;
  }, []);
  const toLatest = useCallback(() => {
    leave();
    toEnd();
  }, [leave, toEnd]);
  const toBeginning = () => {
    wantsTop.current = hasOlder;
    loadAll();
    toTop();
  };
  useEffect(() => {
    // What was wanted once all is there, unless the person went elsewhere meanwhile.
    if (wantsTop.current) toTop();
    if ((!hasOlder && isSettled) || olderError !== null) leave();
  }, [marks, hasOlder, isSettled, olderError, toTop, leave]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Home") toBeginning();
    else leave();
    if (event.key === "End") toLatest();
    else if (event.key !== "Home") return;
    event.preventDefault();
  };
  useCommand({ id: "chat.beginning", title: "Go to the beginning of the chat", group: "Chat", run: toBeginning, words: "first oldest turn top" });
  useCommand({ id: "chat.end", title: "Go to the end of the chat", group: "Chat", run: toLatest, words: "latest newest turn bottom" });
  useEffect(() => {
    if (said > 0) toLatest();
  }, [said, toLatest]);
  const newest = current ?? turns.at(-1);
  const shown = current === null ? turns : [...turns, current];
  return (
    <div className="relative min-h-0 flex-1">
      {/* The arrow keys scroll it. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex, jsx-a11y/no-noninteractive-element-interactions */}
      <div ref={outer} onScroll={onScroll} onWheel={leave} onPointerDown={leave} onKeyDown={onKeyDown} role="log" aria-label="Conversation" aria-live="off" tabIndex={0} className="focus-inset h-full overflow-y-auto">
        <div ref={inner} className="mx-auto max-w-190 px-5 py-2">
          {loadingOlder && <Skeleton lines={2} label="Loading older turns" />}
          {!loadingOlder && hasOlder && (
            <div className="flex justify-center gap-2 py-2">
              <Button small kind="quiet" onClick={loadOlder}>
                Show older turns
              </Button>
              <Button small kind="quiet" onClick={toBeginning}>
                To the beginning
              </Button>
            </div>
          )}
          {conversation.olderError !== null && <ErrorState compact error={conversation.olderError} onRetry={loadOlder} />}
          {shown.map((turn) => {
            const drawn = turn === newest || turn === current || isDrawn(turn.mark);
            return (
              <div key={turn.mark} data-far={drawn ? undefined : turn.mark} className={turn === newest ? undefined : drawn ? FAR : `${FAR} min-h-80`}>
                {drawn && <TurnView repo={repo} turn={turn} isLast={turn === newest} locked={locked} on={on} />}
              </div>
            );
          })}
          {children}
        </div>
      </div>
      {!atEnd && (
        <Button small icon={ArrowDown} onClick={toLatest} className="absolute bottom-3 left-1/2 -translate-x-1/2 shadow-float">
          Jump to the latest
        </Button>
      )}
    </div>
  );
});
