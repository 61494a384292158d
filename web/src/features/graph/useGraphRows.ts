/** The rows of the graph: as many pages as somebody has looked at, fetched anew as one when branches move. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useRef, useState } from "react";

import { answer, api, keys, type GraphRow } from "@/api";

const FIRST = 300;
const PAGE = 1000;

interface Rows {
  rows: readonly GraphRow[];
  next: string | null;
}

export interface GraphRows {
  rows: readonly GraphRow[];
  /** Whether older commits are still to be fetched. */
  more: boolean;
  loading: boolean;
  error: unknown;
  retry: () => void;
  /** Makes sure of this many rows, if there are that many. */
  need: (count: number) => void;
}

const NONE: readonly GraphRow[] = [];

async function page(repository: string, abandoned: boolean, after: string | null, limit: number, signal?: AbortSignal) {
  const { items, next = null } = await answer(
    api.GET("/api/repositories/{repository}/graph", {
      params: { path: { repository }, query: { abandoned, limit, after } },
      ...(signal && { signal }),
    }),
  );
  return { items, next };
}

export function useGraphRows(repo: string, abandoned: boolean): GraphRows {
  const client = useQueryClient();
  const wanted = useRef(FIRST);
  const fetching = useRef<string | null>(null);
  const [failed, setFailed] = useState<unknown>(null);
  const queryKey = [...keys.history(repo), "rows", abandoned];
  const query = useQuery({
    queryKey,
    structuralSharing: false,
    queryFn: async ({ signal }): Promise<Rows> => {
      let { items, next } = await page(repo, abandoned, null, FIRST, signal);
      const rows: GraphRow[] = items;
      while (next !== null && rows.length < wanted.current) {
        ({ items, next } = await page(repo, abandoned, next, PAGE, signal));
        rows.push(...items);
      }
      return { rows, next };
    },
  });
  const { data, refetch } = query;
  const name = JSON.stringify(queryKey);

  const need = useCallback(
    (count: number) => {
      wanted.current = count;
      const cursor = data?.next ?? null;
      if (cursor === null || data === undefined || data.rows.length >= count || fetching.current === cursor) return;
      fetching.current = cursor;
      page(repo, abandoned, cursor, PAGE).then(
        ({ items, next }) => {
          setFailed(null);
          client.setQueryData<Rows>(JSON.parse(name) as string[], (now) =>
            now?.next === cursor ? { rows: [...now.rows, ...items], next } : now,
          );
        },
        (error: unknown) => {
          fetching.current = null;
          setFailed(error);
        },
      );
    },
    [client, data, name, repo, abandoned],
  );
  return {
    rows: data?.rows ?? NONE,
    more: data !== undefined && data.next !== null,
    loading: query.isPending,
    error: query.error ?? failed,
    retry: () => {
      setFailed(null);
      void refetch();
    },
    need,
  };
}
