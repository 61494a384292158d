import { useNavigate } from "@tanstack/react-router";
import { FilePlus, FolderPlus, ListCollapse, ListTree } from "lucide-react";
import { useEffect, useMemo, useState } from "react";

import { topicOf, useDiff, useRepository, useTopic } from "@/api";
import { useCommand } from "@/lib/commands";
import { filePlace } from "@/lib/places";
import { useUnsaved } from "@/lib/unsaved";
import { Confirm, ContextMenu, EmptyState, ErrorState, IconButton } from "@/ui";

import { ContextTotal } from "./explorer/ContextTotal";
import { FileTree } from "./explorer/FileTree";
import { changesOf, inContext } from "./explorer/marks";
import { menuOf } from "./explorer/menu";
import { parentOf, type Row } from "./explorer/tree";
import { useContextMarks } from "./explorer/useContextMarks";
import { told, useFileActions } from "./explorer/useFileActions";
import { useTree } from "./explorer/useTree";
import { openHistory } from "./history_open";
import { pinTab, showTab } from "./tabs";
import { useBranchState } from "./useBranchState";

export interface ExplorerProps {
  repo: string;
  branch: string;
  at?: string | undefined;
  /** The file that is open, if one is. */
  path?: string | undefined;
}

type Naming = { kind: "file" | "folder"; folder: string } | { kind: "rename"; path: string; isFolder: boolean } | undefined;

/** The tree of the branch, or of an earlier commit. */
export function Explorer({ repo, branch, at, path }: ExplorerProps) {
  const navigate = useNavigate();
  const [activePath, setActivePath] = useState(path);
  const [naming, setNaming] = useState<Naming>();
  const [deleting, setDeleting] = useState<{ path: string; isFolder: boolean }>();
  const { refusal } = useBranchState(repo, branch, at);
  useTopic(at === undefined ? topicOf.branch(repo, branch) : null, () => undefined);

  const main = useRepository(repo).data?.default_branch ?? undefined;
  const diff = useDiff(repo, { old: main ?? "", new: at ?? branch, since_fork: true }, main !== undefined && (main !== branch || at !== undefined));
  const changes = useMemo(() => changesOf(diff.data?.files ?? []), [diff.data]);
  const context = useContextMarks(repo, branch);
  const actions = useFileActions(repo, branch, path);
  const everywhere = useUnsaved();
  const unsaved = useMemo(() => new Set(everywhere.filter((file) => file.repo === repo && file.branch === branch).map((file) => file.path)), [everywhere, repo, branch]);

  const placing = naming !== undefined && naming.kind !== "rename" ? naming.folder : undefined;
  const tree = useTree({ repo, branch, at }, changes.gone, placing);
  const { reveal, rows } = tree;
  const [shown, setShown] = useState(path);
  if (path !== shown) {
    setShown(path);
    if (path !== undefined) setActivePath(path);
  }
  useEffect(() => {
    if (path !== undefined) reveal(path);
  }, [path, reveal]);
  const active = useMemo(() => (activePath === undefined ? 0 : Math.max(0, rows.findIndex((row) => row.path === activePath))), [rows, activePath]);

  const open = (row: Row, keep: boolean) => {
    if (keep) pinTab(repo, branch, row.path);
    else showTab(repo, branch, row.path);
    if (row.path !== path) void navigate(filePlace({ repo, branch, file: row.path, at }));
  };
  const mark = (row: Row) => {
    setActivePath(row.path);
    if (refusal !== undefined) return;
    if (row.kind === "directory") context.toggleFolder(row.path);
    else if (row.kind === "file") context.toggleFile(row.path);
  };
  const changeable = (row: Row) => refusal === undefined && row.kind !== "gone";
  const rename = (row: Row) => changeable(row) && setNaming({ kind: "rename", path: row.path, isFolder: row.kind === "directory" });
  const remove = (row: Row) => changeable(row) && setDeleting({ path: row.path, isFolder: row.kind === "directory" });
  const begin = (kind: "file" | "folder", folder: string) => {
    if (folder !== "") tree.toggle(folder, true);
    setNaming({ kind, folder });
    setActivePath(`${folder}/`);
  };
  const renamed = async (from: string, to: string, isFolder: boolean) => {
    if ((await actions.rename(from, to, isFolder)) && isFolder) tree.moved(from, to);
  };
  const removed = async ({ path: from, isFolder }: { path: string; isFolder: boolean }) => {
    await actions.remove(from, isFolder);
    if (isFolder) tree.moved(from, undefined);
  };
  const named = (name: string | undefined) => {
    setNaming(undefined);
    if (name === undefined || naming === undefined) return;
    const folder = naming.kind === "rename" ? parentOf(naming.path) : naming.folder;
    const full = folder === "" ? name : `${folder}/${name}`;
    setActivePath(full);
    if (naming.kind === "rename") void renamed(naming.path, full, naming.isFolder);
    else void (naming.kind === "file" ? actions.newFile(full) : actions.newFolder(full));
  };
  const row = rows[active];
  const here = row === undefined ? "" : row.kind === "directory" ? row.path : parentOf(row.path);
  useCommand({ id: "file.new", title: "New file", group: "Files", run: () => begin("file", here), enabled: refusal === undefined });
  useCommand({ id: "file.new-folder", title: "New folder", group: "Files", run: () => begin("folder", here), enabled: refusal === undefined });
  useCommand({ id: "file.rename", title: "Rename the file", group: "Files", run: () => path !== undefined && setNaming({ kind: "rename", path, isFolder: false }), enabled: path !== undefined && refusal === undefined });
  useCommand({ id: "file.delete", title: "Delete the file", group: "Files", run: () => path !== undefined && setDeleting({ path, isFolder: false }), enabled: path !== undefined && refusal === undefined });
  useCommand({ id: "file.collapse", title: "Close all folders", group: "Files", run: tree.closeAll });
  const openAll = () => void tree.openAll().catch(told);
  useCommand({ id: "file.expand", title: "Open all folders", group: "Files", run: openAll });
  useCommand({ id: "file.focus", title: "Go to the files", group: "Files", keys: "g f", run: () => document.querySelector<HTMLElement>('[role="tree"][aria-label="Files"]')?.focus() });

  const entries = menuOf(row?.kind === "naming" || row?.kind === "waiting" ? undefined : row, {
    refusal,
    onOpen: (each) => open(each, true),
    onHistory: (each) => {
      openHistory(each.path);
      open(each, false);
    },
    onNew: begin,
    onRename: rename,
    onDelete: remove,
    onContext: mark,
    contextLabel: (each) => ((each.kind === "directory" ? (context.marks.below.get(each.path) ?? 0) > 0 : inContext(context.marks, each.path).state === "full") ? "Take out of context" : "Add to context"),
  });

  return (
    <section aria-label="Explorer" className="flex h-full min-h-0 flex-col bg-surface-1">
      <header className="flex h-8 shrink-0 items-center gap-0.5 pr-1 pl-3">
        <h2 className="min-w-0 flex-1 truncate text-xs font-medium text-muted">Files</h2>
        <IconButton small icon={FilePlus} label="New file" disabled={refusal !== undefined} onClick={() => begin("file", here)} />
        <IconButton small icon={FolderPlus} label="New folder" disabled={refusal !== undefined} onClick={() => begin("folder", here)} />
        <IconButton small icon={ListTree} label="Open all folders" onClick={openAll} />
        <IconButton small icon={ListCollapse} label="Close all folders" onClick={tree.closeAll} />
      </header>
      {tree.error !== null && <ErrorState compact error={tree.error} onRetry={tree.retry} />}
      {tree.error !== null && !tree.isThere ? null : rows.length === 0 ? (
        <EmptyState>This branch has no files yet. Make the first one with the button above, or ask the agent to.</EmptyState>
      ) : (
        <ContextMenu entries={entries}>
          <div className="flex min-h-0 flex-1 flex-col">
            <FileTree
              rows={rows}
              changes={changes}
              context={context.marks}
              unsaved={unsaved}
              current={path}
              active={active}
              renaming={naming?.kind === "rename" ? naming.path : undefined}
              naming={naming?.kind === "folder" ? "folder" : "file"}
              refusal={refusal}
              onActive={(index) => setActivePath(rows[index]?.path)}
              onToggle={tree.toggle}
              onOpen={open}
              onContext={mark}
              onRename={rename}
              onDelete={remove}
              onNamed={named}
            />
          </div>
        </ContextMenu>
      )}
      <ContextTotal marks={context.marks} />
      <Confirm
        open={deleting !== undefined}
        onClose={() => setDeleting(undefined)}
        title={`Delete ${deleting?.path ?? ""}?`}
        about={`This makes one commit on ${branch} without ${deleting?.isFolder === true ? "the folder and everything in it" : "the file"}. It stays in the history, and the deletion can be undone.`}
        action={deleting?.isFolder === true ? "Delete the folder" : "Delete the file"}
        onConfirm={() => deleting !== undefined && removed(deleting)}
      />
    </section>
  );
}
