/** Files on their way into a project, one after the other, each with its progress. */
import { useRef, useState } from "react";

import { useAddResource, useSettings } from "@/api";

import { told } from "./problems";
import { fileRefusal } from "./sources";

export interface Upload {
  id: number;
  name: string;
  size: number;
  /** 0 to 1. */
  share: number;
  state: "waiting" | "sending" | "done" | "refused";
  /** Why it was refused, or under which name it was kept. */
  note: string;
}

export interface Uploads {
  list: readonly Upload[];
  send: (files: Iterable<File>) => void;
  dismiss: (id: number) => void;
}

export function useUploads(project: string): Uploads {
  const add = useAddResource(project);
  const most = useSettings("resource").data?.find(({ name }) => name === "resource.max_file_size_mb")?.value;
  const [list, setList] = useState<readonly Upload[]>([]);
  const last = useRef(0);
  const line = useRef<Promise<void>>(Promise.resolve());
  const change = (id: number, part: Partial<Upload>) =>
    setList((before) => before.map((each) => (each.id === id ? { ...each, ...part } : each)));

  const sendOne = async (file: File, id: number) => {
    change(id, { state: "sending" });
    try {
      const kept = await add.mutateAsync({ file, onProgress: (share) => change(id, { share }) });
      change(id, { state: "done", share: 1, note: kept.name === file.name ? "" : `Kept as ${kept.name}.` });
    } catch (error) {
      change(id, { state: "refused", note: told(error) });
    }
  };
  const send = (files: Iterable<File>) => {
    for (const file of files) {
      const id = ++last.current;
      const refused = fileRefusal(file, typeof most === "number" ? most : 50);
      const state = refused === undefined ? "waiting" : "refused";
      setList((before) => [...before, { id, name: file.name, size: file.size, share: 0, state, note: refused ?? "" }]);
      if (refused === undefined) line.current = line.current.then(() => sendOne(file, id));
    }
  };
  return { list, send, dismiss: (id) => setList((before) => before.filter((each) => each.id !== id)) };
}
