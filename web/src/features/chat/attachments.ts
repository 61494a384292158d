/** Files on their way into the chat: each is saved on the branch and taken into the context. */
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";

import { keys, upload } from "@/api";

export interface Attachment {
  id: number;
  file: File;
  /** 0 to 1. */
  share: number;
  /** Where it is now. */
  path: string | null;
  error: unknown;
}

let last = 0;

export interface Attachments {
  all: Attachment[];
  add: (files: Iterable<File>) => void;
  retry: (attachment: Attachment) => void;
  remove: (id: number) => void;
  clear: () => void;
  isUploading: boolean;
}

export function useAttachments(repo: string, branch: string, onSaved: (path: string) => void): Attachments {
  const [all, setAll] = useState<Attachment[]>([]);
  const client = useQueryClient();
  const change = useCallback((id: number, part: Partial<Attachment>) => {
    setAll((before) => before.map((each) => (each.id === id ? { ...each, ...part } : each)));
  }, []);

  const start = async (id: number, file: File) => {
    const form = new FormData();
    form.append("file", file, file.name);
    const address = `/api/repositories/${repo}/session/attachments?${new URLSearchParams({ branch }).toString()}`;
    try {
      const saved = await upload<{ path: string }>(address, form, (share) => change(id, { share }));
      change(id, { path: saved.path, share: 1 });
      onSaved(saved.path);
      void client.invalidateQueries({ queryKey: keys.context(repo, branch) });
      void client.invalidateQueries({ queryKey: keys.files(repo, branch) });
    } catch (error) {
      change(id, { error });
    }
  };

  const add = (files: Iterable<File>) => {
    for (const file of files) {
      const id = ++last;
      setAll((before) => [...before, { id, file, share: 0, path: null, error: null }]);
      void start(id, file);
    }
  };

  return {
    all,
    add,
    retry: (attachment) => {
      change(attachment.id, { error: null, share: 0 });
      void start(attachment.id, attachment.file);
    },
    remove: (id) => setAll((before) => before.filter((each) => each.id !== id)),
    clear: () => setAll([]),
    isUploading: all.some((each) => each.path === null && each.error === null),
  };
}
