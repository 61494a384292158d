/** The turns of a branch: the newest page follows events, older ones are fetched on the way up and never change. */
import { useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";

import { answer, api, keys, type Turn } from "@/api";

import { shownTurn, type ShownTurn } from "./parts";

const PAGE = 12;
/** Whoever goes far up wants to get there: each page is larger than the one before. */
const LARGEST_PAGE = 100;

export function nextPageSize(known: number): number {
  return Math.max(PAGE, Math.min(LARGEST_PAGE, known));
}

export interface TurnsPage {
  items: Turn[];
  next: string | null;
}

async function readPage(repository: string, branch: string, at: string | undefined, after: string | null, limit: number, signal?: AbortSignal): Promise<TurnsPage> {
  const query = { branch, limit, after, messages: true, ...(at !== undefined && { at }) };
  const page = await answer(
    api.GET("/api/repositories/{repository}/session/turns", { params: { path: { repository }, query }, ...(signal && { signal }) }),
  );
  const items = await Promise.all(page.items.map((turn) => whole(repository, branch, turn)));
  return { items, next: page.next ?? null };
}

/** The next page, or with `whole` all pages up to the beginning. */
async function readOlder(repo: string, branch: string, at: string | undefined, after: string, known: number, whole: boolean): Promise<TurnsPage> {
  const items: Turn[] = [];
  let next: string | null = after;
  do {
    const got: TurnsPage = await readPage(repo, branch, at, next, whole ? LARGEST_PAGE : nextPageSize(known));
    items.push(...got.items);
    next = got.next;
  } while (whole && next !== null);
  return { items, next };
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

/** The newest page has moved on: what fell off its end is older now, and stays with what is known before it. */
export function fallen(before: TurnsPage, now: TurnsPage, older: TurnsPage): TurnsPage {
  const oldest = now.items.at(-1)?.number ?? 0;
  const off = before.items.filter((turn) => turn.number < oldest);
  const last = off.at(-1);
  if (last === undefined) return older;
  const rest = older.items.filter((turn) => turn.number < last.number);
  return rest[0]?.number === last.number - 1 ? { items: [...off, ...rest], next: older.next } : { items: off, next: before.next };
}

const shown = new WeakMap<Turn, ShownTurn>();

/** Turns never change: each is made ready once, however many come before it. */
function shownOnce(turn: Turn): ShownTurn {
  const known = shown.get(turn) ?? shownTurn(turn);
  shown.set(turn, known);
  return known;
}

export interface Conversation {
  /** Oldest first. */
  turns: ShownTurn[];
  hasOlder: boolean;
  loadOlder: () => void;
  /** Fetches all that is older. */
  loadAll: () => void;
  loadingOlder: boolean;
  olderError: unknown;
  isPending: boolean;
  error: unknown;
  refetch: () => void;
}

export function useConversation(repo: string, branch: string, at: string | undefined): Conversation {
  const newest = useQuery({
    queryKey: [...keys.turns(repo, branch), "whole", at ?? null],
    queryFn: ({ signal }) => readPage(repo, branch, at, null, PAGE, signal),
    // Travelling in time, what was said at the commit before stays until it is known what was said at this one.
    placeholderData: (before) => (at === undefined ? undefined : before),
  });
  const [older, setOlder] = useState<TurnsPage>({ items: [], next: null });
  const [loading, setLoading] = useState(false);
  const [olderError, setOlderError] = useState<unknown>(null);
  const page = newest.data;
  const [before, setBefore] = useState<TurnsPage | undefined>(undefined);
  if (page !== before) {
    setBefore(page);
    if (page !== undefined && before !== undefined) setOlder((known) => fallen(before, page, known));
  }
  const all = useMemo(() => joined(page?.items ?? [], older.items), [page, older]);
  const turns = useMemo(() => [...all].reverse().map(shownOnce), [all]);
  const reached = page !== undefined && all.length > page.items.length;
  const next = reached ? older.next : (page?.next ?? null);
  const load = useCallback(
    (whole: boolean) => {
      if (loading || next === null) return;
      setLoading(true);
      setOlderError(null);
      readOlder(repo, branch, at, next, all.length, whole)
        .then((got) =>
          setOlder((known) => ({ items: [...known.items.filter((turn) => turn.number > (got.items[0]?.number ?? 0)), ...got.items], next: got.next })),
        )
        .catch(setOlderError)
        .finally(() => setLoading(false));
    },
    [loading, next, repo, branch, at, all],
  );
  const loadOlder = useCallback(() => load(false), [load]);
  const loadAll = useCallback(() => load(true), [load]);
  const { refetch: read } = newest;
  const refetch = useCallback(() => void read(), [read]);
  return {
    turns,
    hasOlder: next !== null,
    loadOlder,
    loadAll,
    loadingOlder: loading,
    olderError,
    isPending: newest.isPending,
    error: newest.error,
    refetch,
  };
}
