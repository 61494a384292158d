/** What can be done to files from the tree. Each is one commit, and each can be undone. */
import { useNavigate } from "@tanstack/react-router";

import { useDeleteFile, useDeleteFolder, useRenameFile, useRenameFolder, useSaveFile, useUndo } from "@/api";
import { filePlace, branchPlace } from "@/lib/places";
import { announceSaved } from "@/lib/saved";
import { toast } from "@/ui";

import { moveDrafts } from "../editor/open_files";
import { closeTab, pinTab, renameTab } from "../tabs";
import { movedPath, nameOf } from "./tree";

interface Landed {
  commit: string | null;
  operation: string | null;
}

const KEPT_FOLDER = ".gitkeep";

export function told(error: unknown): void {
  const hint = error instanceof Error && "hint" in error ? ` ${String(error.hint)}` : "";
  toast({ text: `${error instanceof Error ? error.message : String(error)}${hint}`, meaning: "bad" });
}

export function useFileActions(repo: string, branch: string, current: string | undefined) {
  const navigate = useNavigate();
  const save = useSaveFile(repo, branch);
  const rename = useRenameFile(repo);
  const remove = useDeleteFile(repo, branch);
  const renameFolder = useRenameFolder(repo);
  const removeFolder = useDeleteFolder(repo, branch);
  const undo = useUndo(repo);

  const landed = ({ commit, operation }: Landed, text: string) => {
    if (commit !== null) announceSaved({ repo, branch, commit });
    const back = () => undo.mutate(operation ?? undefined, { onError: told });
    toast(operation === null ? { text } : { text, action: { label: "Undo", run: back } });
  };
  const open = (path: string) => void navigate(filePlace({ repo, branch, file: path }));

  return {
    /** A path may have folders in it: they come to be with the file. */
    newFile: async (path: string) => {
      try {
        const made = await save.mutateAsync({ path, content: "", etag: null, message: `new: ${nameOf(path)}` });
        if (made.commit !== null) announceSaved({ repo, branch, commit: made.commit });
        pinTab(repo, branch, path);
        open(path);
      } catch (error) {
        told(error);
      }
    },
    newFolder: async (path: string) => {
      try {
        landed(await save.mutateAsync({ path: `${path}/${KEPT_FOLDER}`, content: "", etag: null, message: `new: ${path}/` }), `Made ${path}/, kept by an empty file`);
      } catch (error) {
        told(error);
      }
    },
    /** Whether it was done. Tabs and unsaved text go along. */
    rename: async (path: string, to: string, folder: boolean): Promise<boolean> => {
      try {
        const moved = await (folder ? renameFolder : rename).mutateAsync({ path, to, branch });
        moveDrafts({ repo, branch, path }, to);
        renameTab(repo, branch, path, to);
        const file = current === undefined ? undefined : movedPath(current, path, to);
        if (file !== undefined) void navigate({ ...filePlace({ repo, branch, file }), replace: true });
        landed(moved, `Renamed ${nameOf(path)} to ${to}`);
        return true;
      } catch (error) {
        told(error);
        return false;
      }
    },
    /** Throws what went wrong: the dialog that asked shows it. */
    remove: async (path: string, folder: boolean) => {
      const gone = await (folder ? removeFolder.mutateAsync(path) : remove.mutateAsync({ path }));
      closeTab(repo, branch, path);
      if (current !== undefined && movedPath(current, path, "") !== undefined) void navigate(branchPlace({ repo, branch, tab: "chat" }));
      landed(gone, `Deleted ${nameOf(path)}`);
    },
  };
}
