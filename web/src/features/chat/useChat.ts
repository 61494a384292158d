/** All that the chat of a branch knows: what was said, what is under way, and what waits to be sent. */
import { useEffect, useMemo } from "react";

import { useBranches, useConnection, useSession } from "@/api";

import { useConversation, type Conversation } from "./conversation";
import { useLiveTurn } from "./live_turn";
import { UNHEARD, type ShownTurn } from "./parts";
import { useSentMessage, type SentMessage } from "./sending";

/** Marks of turns that were seen in their branch: whoever undoes one does not want it back as news. */
const LANDED = new Set<string>();
/** A message that nobody has begun to answer by then was lost with its server. */
const FORGOTTEN_SECONDS = 120;
const READ_AFTER = 1000;

export function queuedTurn(text: string, mark: string, model: string, time: number): ShownTurn {
  return { ...UNHEARD, mark, asked: text, model, started: time, state: "queued" };
}

const isOver = (turn: ShownTurn) => turn.state !== "running" && turn.state !== "queued";

function currentTurn(live: ShownTurn | null, sent: SentMessage | null, working: string | undefined, landed: ReadonlySet<string>): ShownTurn | null {
  if (sent !== null && sent.mark !== live?.mark && !landed.has(sent.mark)) {
    const young = Date.now() / 1000 - sent.time < FORGOTTEN_SECONDS;
    if (young || working === sent.mark) return queuedTurn(sent.text, sent.mark, sent.model, sent.time);
  }
  if (live === null || landed.has(live.mark)) return null;
  return sent?.mark === live.mark ? { ...live, asked: sent.text } : live;
}

export interface Chat {
  conversation: Conversation;
  /** Under way, or ended and not in the branch (yet). */
  current: ShownTurn | null;
  /** The last one of the branch, even where only its end has been heard of so far. */
  newest: ShownTurn | undefined;
  isRunning: boolean;
  connected: boolean;
  /** Who answered the newest turn; "" where nobody did. */
  lastModel: string;
  /** Dollars of the whole conversation. */
  cost: number | null;
  isProtected: boolean;
  branches: ReadonlySet<string>;
  error: unknown;
}

export function useChat(repo: string, branch: string, at: string | undefined): Chat {
  const session = useSession(repo, branch, at);
  const conversation = useConversation(repo, branch, at);
  const branches = useBranches(repo);
  const connected = useConnection().state === "connected";
  const [sent, setSent] = useSentMessage(repo, branch);
  const { turns } = conversation;
  const landed = useMemo(() => new Set([...LANDED, ...turns.map((turn) => turn.mark)]), [turns]);
  useEffect(() => landed.forEach((mark) => LANDED.add(mark)), [landed]);

  const working = at === undefined ? session.data?.working?.turn : undefined;
  const wanted = working ?? sent?.mark;
  const awaited = wanted !== undefined && !landed.has(wanted) ? wanted : null;
  const isKnown = session.data !== undefined && !conversation.isPending;
  const since = sent !== null && sent.mark === wanted ? sent.after : 0;
  const live = useLiveTurn(repo, branch, isKnown ? awaited : undefined, since);

  const isDone = sent !== null && landed.has(sent.mark);
  useEffect(() => {
    if (isDone) setSent(null);
  }, [isDone, setSent]);

  // Events make the turns stale; whoever heard of the end by looking it up asks by itself.
  const isUnread = live !== null && isOver(live) && live.state !== "aside" && live.commit !== null && !landed.has(live.mark);
  const { refetch } = conversation;
  const { refetch: refetchSession } = session;
  useEffect(() => {
    if (!isUnread) return;
    const timer = setTimeout(() => {
      refetch();
      void refetchSession();
    }, READ_AFTER);
    return () => clearTimeout(timer);
  }, [isUnread, refetch, refetchSession]);

  const current = useMemo(
    () => (at === undefined ? currentTurn(live, sent, working, landed) : null),
    [at, live, sent, working, landed],
  );
  // Not one before it, while what was asked in it is not known.
  const newest = isUnread ? (current?.asked ? current : undefined) : turns.at(-1);
  const ended = live !== null && live.mark === working && isOver(live);
  const info = branches.data?.find((each) => each.name === branch);
  const names = useMemo(() => new Set(branches.data?.map((each) => each.name)), [branches.data]);
  const told = session.data as { model?: string | null } | undefined;
  return {
    conversation,
    current,
    newest,
    isRunning: (working !== undefined && !ended) || (current !== null && !isOver(current)),
    connected,
    lastModel: told?.model ?? turns.at(-1)?.model ?? "",
    cost: session.data?.usage.cost ?? null,
    isProtected: info?.protected === true || info?.is_default === true,
    branches: names,
    error: conversation.error ?? session.error,
  };
}
