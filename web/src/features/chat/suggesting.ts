/** The list that opens while `@` or `/` is being written. */
import { useMemo, useState } from "react";

import { usePaths } from "@/api";

import { matching, type SlashCommand } from "./commands_here";
import { useRankedPaths } from "./ranking";
import type { Suggestion } from "./Suggestions";
import { wishAt, type Wish } from "./writing";

export interface Suggesting {
  wish: Wish | null;
  items: Suggestion[];
  active: number;
  move: (by: number) => void;
  close: () => void;
  paths: readonly string[] | undefined;
  isPending: boolean;
}

export function useSuggesting(repo: string, branch: string, text: string, caret: number, slash: readonly SlashCommand[]): Suggesting {
  const [closed, setClosed] = useState<string | null>(null);
  const [chosen, setChosen] = useState({ for: "", at: 0 });
  const found = wishAt(text, caret);
  const key = found === null ? "" : `${found.kind}${found.from}${found.query}`;
  // Closed for this word, until another one begins.
  const wish = found !== null && closed === `${found.kind}${found.from}` ? null : found;
  const paths = usePaths({ repo, branch }, text.includes("@"));
  const usable = useMemo(() => paths.data?.filter((path) => !path.startsWith(".forge/session")), [paths.data]);
  const files = useRankedPaths(wish?.kind === "file" ? wish.query : "", wish?.kind === "file" ? usable : undefined);
  const items: Suggestion[] =
    wish?.kind === "file"
      ? files.map((path) => ({ value: path, label: path }))
      : wish?.kind === "command"
        ? matching(slash, wish.query).map(({ name, about }) => ({ value: name, label: `/${name}`, about }))
        : [];
  const active = chosen.for === key ? Math.min(chosen.at, Math.max(0, items.length - 1)) : 0;
  return {
    wish,
    items,
    active,
    move: (by) => setChosen({ for: key, at: items.length === 0 ? 0 : (active + by + items.length) % items.length }),
    close: () => setClosed(found === null ? null : `${found.kind}${found.from}`),
    paths: paths.data,
    isPending: paths.isPending,
  };
}
