import { useNavigate } from "@tanstack/react-router";
import { useState, type RefObject } from "react";

import { branchPlace, settingsPlace } from "@/lib/places";
import { Cost, ErrorState, toast } from "@/ui";

import { useAttachments } from "./attachments";
import type { SlashCommand } from "./commands_here";
import { Composer } from "./Composer";
import { EditBanner } from "./EditBanner";
import { EngineNote } from "./EngineNote";
import { ModelPicker } from "./ModelPicker";
import type { Answerers } from "./models";
import type { ShownTurn } from "./parts";
import { QueueRow } from "./QueueRow";
import { useQueueing } from "./queueing";
import { useDraft, useSend, Withheld, type Order, type Start } from "./sending";
import { StatusLine } from "./StatusLine";
import type { Chat } from "./useChat";
import { branchFor, free } from "./writing";

export interface Editing {
  turn: ShownTurn;
  start: Start;
}

export interface ComposerAreaProps {
  repo: string;
  branch: string;
  chat: Chat;
  answerers: Answerers;
  field: RefObject<HTMLTextAreaElement | null>;
  editing: Editing | null;
  onEditEnd: () => void;
  onRecall: () => void;
  /** The words that are on their way, null when they have arrived. */
  onOutgoing: (text: string | null) => void;
  isStopping: boolean;
  onStop: () => void;
  slash: SlashCommand[];
}

/** Where the person writes: drafts, what waits, who answers, and the line below. */
export function ComposerArea(props: ComposerAreaProps) {
  const { repo, branch, chat, answerers, editing, onEditEnd, onOutgoing, field } = props;
  const navigate = useNavigate();
  const [draft, setDraft] = useDraft(repo, branch);
  const [edited, setEdited] = useState<{ of: string; text: string; name: string } | null>(null);
  const send = useSend(repo, branch);
  const { current, isRunning, isProtected, branches } = chat;
  const edit =
    editing === null
      ? null
      : edited?.of === editing.turn.mark
        ? edited
        : { of: editing.turn.mark, text: editing.turn.asked, name: free(branch, branches) };
  const attachments = useAttachments(repo, branch, (path) => setDraft((before) => `${before}${before === "" || /\s$/.test(before) ? "" : " "}@${path} `));

  const go = async (order: Order): Promise<boolean> => {
    onOutgoing(order.text);
    try {
      const target = await send.mutateAsync(order);
      attachments.clear();
      onEditEnd();
      if (target !== branch) void navigate(branchPlace({ repo, branch: target }));
      return true;
    } catch (error) {
      if (error instanceof Withheld) send.reset();
      return false;
    } finally {
      onOutgoing(null);
    }
  };
  const plain = (text: string, mentions: string[] = []): Order => ({
    text,
    mentions,
    answerer: answerers.answerer,
    ...(isProtected && { fresh: { name: branchFor(text, branches), start: { rev: branch, conversation: false } } }),
  });
  const isHeld = current?.state === "failed" || current?.state === "limited" || chat.conversation.turns.at(-1)?.state === "failed";
  const queueing = useQueueing(repo, branch, !isRunning && !isHeld && !send.isPending && chat.connected, (text) => go(plain(text)));

  const onSend = (text: string, mentions: string[]) => {
    if (edit !== null && editing !== null) {
      void go({ text, mentions, answerer: answerers.answerer, fresh: { name: edit.name.trim(), start: editing.start } });
    } else if (isRunning) {
      queueing.add(text);
      setDraft("");
    } else {
      setDraft("");
      void go(plain(text, mentions)).then((done) => {
        if (!done) setDraft((since) => (since === "" ? text : since));
      });
    }
  };

  return (
    <div className="mx-auto w-full max-w-190 shrink-0 px-5 pb-2">
      {send.error !== null && !(send.error instanceof Withheld) && <ErrorState compact error={send.error} />}
      {answerers.isBuiltIn && <EngineNote />}
      {queueing.queue.length > 0 && (
        <QueueRow
          queue={queueing.queue}
          isHeld={isHeld && !isRunning}
          onSend={(at) => {
            const text = queueing.queue[at] ?? "";
            queueing.remove(at);
            void go(plain(text)).then((done) => !done && queueing.add(text));
          }}
          onEdit={(at) => {
            setDraft(queueing.queue[at] ?? "");
            queueing.remove(at);
            field.current?.focus();
          }}
          onRemove={(at) => {
            const text = queueing.queue[at] ?? "";
            queueing.remove(at);
            toast({ text: "The message will not be sent.", action: { label: "Undo", run: () => queueing.add(text) } });
          }}
        />
      )}
      <Composer
        repo={repo}
        branch={branch}
        field={field}
        text={edit?.text ?? draft}
        onText={(text) => (edit === null ? setDraft(text) : setEdited({ ...edit, text }))}
        onSend={onSend}
        action={edit === null && !isProtected ? "Send" : "Send on a new branch"}
        isSending={send.isPending}
        isRunning={isRunning && edit === null}
        isStopping={props.isStopping}
        onStop={props.onStop}
        onRecall={props.onRecall}
        attachments={isProtected ? null : attachments}
        slash={props.slash}
        placeholder={isProtected ? `Say what you want to have done; it begins on a branch from ${branch}` : "Say what you want to have done"}
        above={edit && editing && <EditBanner number={editing.turn.number} name={edit.name} onName={(name) => setEdited({ ...edit, name })} onCancel={onEditEnd} />}
        aside={
          <>
            <ModelPicker answerers={answerers} onSettings={() => void navigate(settingsPlace("models"))} />
            {chat.cost !== null && (
              <span className="px-1 text-xs whitespace-nowrap text-muted" title="What this conversation has cost">
                <Cost dollars={chat.cost} />
              </span>
            )}
          </>
        }
      />
      <StatusLine turn={current} connected={chat.connected} />
    </div>
  );
}
