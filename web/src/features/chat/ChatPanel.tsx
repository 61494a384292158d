import { useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";

import { useCancelTurn } from "@/api";
import { useCommand } from "@/lib/commands";
import { branchPlace, filePlace } from "@/lib/places";
import { ErrorState, RetryRow, Skeleton, toast } from "@/ui";

import { Cards } from "./Cards";
import { ComposerArea, type Editing } from "./ComposerArea";
import { EmptyChat } from "./EmptyChat";
import { ForkDialog } from "./ForkDialog";
import { useAnswerers } from "./models";
import type { ShownTurn } from "./parts";
import { PastBanner } from "./PastBanner";
import { useDraft, useSend } from "./sending";
import { useSteady } from "@/lib/steady";
import { TurnList } from "./TurnList";
import { useTurnActions } from "./turn_actions";
import type { TurnCallbacks } from "./TurnView";
import { queuedTurn, useChat } from "./useChat";
import { free } from "./writing";

export interface ChatPanelProps {
  repo: string;
  branch: string;
  /** A commit: the conversation as it was then, to read only. */
  at?: string | undefined;
}

/** The conversation with an agent on a branch. */
export function ChatPanel({ repo, branch, at }: ChatPanelProps) {
  const navigate = useNavigate();
  const chat = useChat(repo, branch, at);
  const { conversation, isRunning, newest: last } = chat;
  const answerers = useAnswerers(repo, branch, chat.lastModel);
  const cancel = useCancelTurn(repo, branch);
  const again = useSend(repo, branch);
  const actions = useTurnActions(repo, branch);
  const [, setDraft] = useDraft(repo, branch);
  const [editing, setEditing] = useState<Editing | null>(null);
  const [forking, setForking] = useState<ShownTurn | null>(null);
  const [outgoing, setOutgoing] = useState<{ text: string; time: number } | null>(null);
  const [said, setSaid] = useState(0);
  /** Sent again, to the model that is chosen by then, when it has stopped. */
  const [switching, setSwitching] = useState<ShownTurn | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const locked = isRunning || at !== undefined || actions.busy;

  const stop = () => {
    if (!isRunning || cancel.isPending) return;
    cancel.mutate(undefined, { onError: (error) => toast({ text: error.message, meaning: "bad" }) });
  };
  const edit = (turn: ShownTurn) => {
    const before = conversation.turns[conversation.turns.findIndex((each) => each.mark === turn.mark) - 1];
    const earlier = before?.id ?? ((turn.number ?? 1) > 1 ? String((turn.number ?? 1) - 1) : null);
    setEditing({ turn, start: earlier === null ? { rev: `${turn.commit ?? "HEAD"}~1`, conversation: false } : { turn: earlier } });
    field.current?.focus();
  };
  const openBranch = (name: string) => void navigate(branchPlace({ repo, branch: name }));
  const openFile = (path: string) => void navigate(filePlace({ repo, branch, file: path.replace(/^\.?\//, "").replace(/#.*$/, ""), at }));
  const now: TurnCallbacks = {
    edit,
    fork: setForking,
    undo: (turn) => turn.commit !== null && actions.undo(turn.commit),
    rewind: (turn) => turn.id !== null && actions.rewind(turn.id, turn.number),
    again: (turn) => {
      again.mutate(
        { text: turn.asked, mentions: [], answerer: answerers.answerer },
        { onError: (error) => toast({ text: error.message, meaning: "bad" }) },
      );
      setSaid((n) => n + 1);
    },
    openFile,
    openBranch,
  };
  const on = useSteady(now);
  const switched = useSteady({
    send: (turn: ShownTurn) => {
      setSwitching(null);
      now.again(turn);
    },
  });
  useEffect(() => {
    if (switching !== null && !isRunning) switched.send(switching);
  }, [switching, isRunning, switched]);
  const recall = () => {
    if (last !== undefined && !isRunning) edit(last);
  };

  const canAct = !locked && last !== undefined;
  const group = "Chat";
  useCommand({ id: "chat.write", title: "Write a message", group, keys: "c", enabled: at === undefined, run: () => field.current?.focus() });
  useCommand({ id: "chat.stop", title: "Stop the turn", group, keys: "escape", enabled: isRunning, run: () => isVisible(field.current) && stop() });
  useCommand({ id: "chat.edit", title: "Edit the last message and fork", group, enabled: canAct, run: recall });
  useCommand({ id: "chat.fork", title: "Fork after the last turn", group, enabled: canAct, run: () => last && setForking(last) });
  useCommand({ id: "chat.undo", title: "Undo the last turn", group, enabled: canAct, run: () => last && now.undo(last) });

  const { current } = chat;
  const shown = useMemo(
    () => (outgoing === null ? current : queuedTurn(outgoing.text, "outgoing", "", outgoing.time)),
    [outgoing, current],
  );
  const cards = useMemo(
    () => (at === undefined ? <Cards repo={repo} branch={branch} locked={isRunning} onOpenFile={on.openFile} /> : null),
    [at, repo, branch, isRunning, on],
  );
  const slash = [
    { name: "fork", about: "a new branch after the last turn", enabled: canAct, run: () => last && setForking(last) },
    { name: "edit", about: "the last message, on a new branch", enabled: canAct, run: recall },
    { name: "undo", about: "the last turn", enabled: canAct, run: () => last && now.undo(last) },
    { name: "retry", about: "the last message once more", enabled: canAct, run: () => last && now.again(last) },
    { name: "stop", about: "the turn that is under way", enabled: isRunning, run: stop },
  ];
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented) return;
    if (editing !== null) setEditing(null);
    else if (isRunning) stop();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const isEmpty = conversation.turns.length === 0 && shown === null;
  return (
    // Escape stops the turn from anywhere in here.
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions
    <div className="flex h-full min-h-0 min-w-0 flex-1 flex-col bg-surface-0" onKeyDown={onKeyDown}>
      {conversation.isPending ? (
        <div className="mx-auto w-full max-w-190 flex-1 px-5 py-4">
          <Skeleton lines={6} label="Loading the conversation" />
        </div>
      ) : chat.error ? (
        <div className="flex-1">
          <ErrorState error={chat.error} onRetry={conversation.refetch} />
        </div>
      ) : isEmpty ? (
        <div className="min-h-0 flex-1 overflow-y-auto">
          <EmptyChat
            branch={branch}
            isProtected={chat.isProtected}
            onTry={(text) => {
              setDraft(text);
              field.current?.focus();
            }}
          />
          <div className="mx-auto max-w-190 px-5">{cards}</div>
        </div>
      ) : (
        <TurnList repo={repo} conversation={conversation} current={shown} locked={locked} on={on} said={said}>
          {cards}
        </TurnList>
      )}
      {at === undefined && isRunning && current !== null && current.trouble !== null && (
        <RetryRow
          text={current.trouble}
          others={answerers.choices.filter((choice) => choice.value !== answerers.chosen?.value)}
          isStopping={cancel.isPending}
          onStop={stop}
          onSwitch={(value) => {
            answerers.choose(value);
            setSwitching(current);
            stop();
          }}
        />
      )}
      {at === undefined ? (
        <ComposerArea
          repo={repo}
          branch={branch}
          chat={chat}
          answerers={answerers}
          field={field}
          editing={editing}
          onEditEnd={() => setEditing(null)}
          onRecall={recall}
          onOutgoing={(text) => {
            setOutgoing(text === null ? null : { text, time: Date.now() / 1000 });
            if (text !== null) setSaid((n) => n + 1);
          }}
          isStopping={cancel.isPending}
          onStop={stop}
          slash={slash}
        />
      ) : (
        <PastBanner repo={repo} branch={branch} at={at} />
      )}
      {forking && (
        <ForkDialog
          repo={repo}
          branch={branch}
          turn={forking}
          name={free(branch, chat.branches)}
          onClose={() => setForking(null)}
          onForked={(name) => {
            setForking(null);
            openBranch(name);
          }}
        />
      )}
    </div>
  );
}

/** The chat stays behind an open file; keys are then meant for the file. */
function isVisible(element: HTMLElement | null): boolean {
  return element !== null && element.offsetParent !== null;
}
