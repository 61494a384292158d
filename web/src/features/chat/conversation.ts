/** The turns of a branch: the newest page follows events, older ones are fetched on the way up and never change. */
import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";

import { answer, api, keys, type Turn } from "@/api";

import { shownTurn, type ShownTurn } from "./parts";

const PAGE = 12;

interface TurnsPage {
  items: Turn[];
  next: string | null;
}

async function readPage(repository: string, branch: string, at: string | undefined, after: string | null, signal?: AbortSignal): Promise<TurnsPage> {
  const query = { branch, limit: PAGE, after, messages: true, ...(at !== undefined && { at }) };
  const page = await answer(
    api.GET("/api/repositories/{repository}/session/turns", { params: { path: { repository }, query }, ...(signal && { signal }) }),
  );
  const items = await Promise.all(page.items.map((turn) => whole(repository, branch, turn)));
  return { items, next: page.next ?? null };
}

/** A turn without what was said in it is read once more by itself. */
async function whole(repository: string, branch: string, turn: Turn): Promise<Turn> {
  if (turn.messages) return turn;
  return answer(
    api.GET("/api/repositories/{repository}/session/turns/{turn}", { params: { path: { repository, turn: turn.id }, query: { branch } } }),
  );
}

/** Older turns that still belong to the newest page: the ones before it, without a gap. */
export function joined(newest: readonly Turn[], older: readonly Turn[]): Turn[] {
  const first = newest.at(-1);
  if (first === undefined) return [];
  const before = older.filter((turn) => turn.number < first.number);
  return before[0]?.number === first.number - 1 ? [...newest, ...before] : [...newest];
}

export interface Conversation {
  /** Oldest first. */
  turns: ShownTurn[];
  hasOlder: boolean;
  loadOlder: () => void;
  loadingOlder: boolean;
  olderError: unknown;
  isPending: boolean;
  error: unknown;
  refetch: () => void;
}

export function useConversation(repo: string, branch: string, at: string | undefined): Conversation {
  const newest = useQuery({
    queryKey: [...keys.turns(repo, branch), "whole", at ?? null],
    queryFn: ({ signal }) => readPage(repo, branch, at, null, signal),
  });
  const [older, setOlder] = useState<TurnsPage>({ items: [], next: null });
  const [loading, setLoading] = useState(false);
  const [olderError, setOlderError] = useState<unknown>(null);
  const page = newest.data;
  const all = useMemo(() => joined(page?.items ?? [], older.items), [page, older]);
  const turns = useMemo(() => [...all].reverse().map(shownTurn), [all]);
  const reached = page !== undefined && all.length > page.items.length;
  const next = reached ? older.next : (page?.next ?? null);
  const loadOlder = useCallback(() => {
    if (loading || next === null) return;
    setLoading(true);
    setOlderError(null);
    readPage(repo, branch, at, next)
      .then((got) => setOlder({ items: [...all.slice(page?.items.length ?? 0), ...got.items], next: got.next }))
      .catch(setOlderError)
      .finally(() => setLoading(false));
  }, [loading, next, repo, branch, at, all, page]);
  const { refetch: read } = newest;
  const refetch = useCallback(() => void read(), [read]);
  return {
    turns,
    hasOlder: next !== null,
    loadOlder,
    loadingOlder: loading,
    olderError,
    isPending: newest.isPending,
    error: newest.error,
    refetch,
  };
}
