import { useQueryClient } from "@tanstack/react-query";
import { useMemo } from "react";

import { keys, useChangeContext, useContextFiles, type Shapes } from "@/api";

import { contextOf, inContext, type ContextMarks } from "./marks";
import { told } from "./useFileActions";

export interface Context {
  marks: ContextMarks;
  toggleFile: (path: string) => void;
  toggleFolder: (path: string) => void;
}

type ActiveFile = Shapes["ContextFileShape"];

function changed(files: readonly ActiveFile[], add: string[], remove: string[]): ActiveFile[] {
  const left = files.filter((file) => !remove.includes(file.path) && !add.includes(file.path));
  return [...left, ...add.map((path): ActiveFile => ({ path, ranges: [], state: "fully", tokens: 0, why: "active" }))];
}

/** Which files the agent has before it, and the way to change that. */
export function useContextMarks(repo: string, branch: string): Context {
  const client = useQueryClient();
  const { data } = useContextFiles(repo, branch);
  const { mutate } = useChangeContext(repo, branch);
  const marks = useMemo(() => contextOf(data), [data]);
  const change = (add: string[], remove: string[]) => {
    const key = keys.context(repo, branch);
    // The mark answers at once; the server's word, with the tokens, replaces it.
    client.setQueryData<Shapes["ContextShape"]>(key, (before) => before && { ...before, files: changed(before.files, add, remove) });
    const refused = (error: unknown) => {
      told(error);
      void client.invalidateQueries({ queryKey: key });
    };
    mutate({ add: add.map((path) => ({ path, ranges: [] })), remove }, { onError: refused });
  };
  return {
    marks,
    toggleFile: (path) => {
      const { state, fixed } = inContext(marks, path);
      if (fixed) return;
      if (state === "full") change([], [path]);
      else change([path], []);
    },
    toggleFolder: (path) => {
      const below = [...marks.files.keys()].filter((file) => file.startsWith(`${path}/`));
      if (below.length > 0) change([], below);
      else change([path], []);
    },
  };
}
