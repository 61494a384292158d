/** Saving: one commit for one file, only over what was seen. */
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";

import { ApiProblem, isProblem, placeKey, readFile, useSaveFile, type FileContent } from "@/api";
import { announceSaved } from "@/lib/saved";
import { toast } from "@/ui";

import type { OpenFile, Version } from "../editor/open_file";
import { told } from "../explorer/useFileActions";

export type SaveResult = "saved" | "parted" | "failed";

export interface Saving {
  busy: boolean;
  save: () => Promise<SaveResult>;
}

async function onBranch(file: OpenFile): Promise<Version> {
  try {
    const found = await readFile(file.place, file.place.path);
    return { text: found.text ?? "", etag: found.etag, commit: found.commit };
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return { text: "", etag: "" };
    throw error;
  }
}

export function useSave(file: OpenFile, onParted: () => void): Saving {
  const { repo, branch, path } = file.place;
  const client = useQueryClient();
  const { mutateAsync } = useSaveFile(repo, branch);
  const [busy, setBusy] = useState(false);
  const running = useRef(false);

  const attempt = async (large: boolean): Promise<SaveResult> => {
    const text = file.text();
    const { etag } = file.base;
    try {
      const saved = await mutateAsync({ path, content: text, etag: etag === "" ? null : etag, large });
      const bytes = new TextEncoder().encode(text);
      client.setQueryData([...placeKey({ repo, branch }), "file", path], { bytes, text, etag: saved.etag ?? "", commit: saved.commit ?? undefined } satisfies FileContent);
      file.saved({ text, etag: saved.etag ?? "", commit: saved.commit ?? undefined });
      if (saved.commit !== null) announceSaved({ repo, branch, commit: saved.commit });
      return "saved";
    } catch (error) {
      if (!isProblem(error, "file_changed")) throw error;
      file.take(await onBranch(file));
      if (!file.snapshot().dirty) return "saved"; // somebody wrote the very same text
      onParted();
      return "parted";
    }
  };

  const save = async (large = false): Promise<SaveResult> => {
    if (running.current) return "failed";
    running.current = true;
    setBusy(true);
    try {
      return await attempt(large);
    } catch (error) {
      if (isProblem(error, "file_over_limit")) {
        const action = { label: "Save anyway", run: () => void save(true) };
        toast({ text: error.message, meaning: "attention", lasting: true, action });
      } else told(error);
      return "failed";
    } finally {
      running.current = false;
      setBusy(false);
    }
  };
  return { busy, save: () => save() };
}
