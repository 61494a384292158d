import { useNavigate } from "@tanstack/react-router";
import { Hourglass, X } from "lucide-react";
import { useEffect, useMemo, type KeyboardEvent } from "react";

import { classNames } from "@/lib/class_names";
import { useCommand } from "@/lib/commands";
import { branchPlace, filePlace } from "@/lib/places";
import { rememberFile } from "@/lib/recent_files";
import { askToClose, useUnsaved } from "@/lib/unsaved";

import { forgetFile } from "./editor/open_files";
import { nameOf, parentOf } from "./explorer/tree";
import { closeTab, nextInFront, pinTab, showTab, useTabs, type OpenTab } from "./tabs";
import { UnsavedDialog } from "./UnsavedDialog";
import { useBranchState } from "./useBranchState";

export interface FileTabsProps {
  repo: string;
  branch: string;
  at?: string | undefined;
  /** The file in front; undefined while the chat is. */
  path?: string | undefined;
}

interface TabProps {
  tab: OpenTab;
  selected: boolean;
  unsaved: boolean;
  /** A turn works on the branch: files are read-only until it ends. */
  busy: boolean;
  /** Another open file has the same name. */
  ambiguous: boolean;
  onShow: () => void;
  onKeep: () => void;
  onClose: () => void;
}

function focusNeighbour(from: Element, step: number): void {
  const all = [...(from.closest('[role="tablist"]')?.querySelectorAll<HTMLElement>('[role="tab"]') ?? [])];
  all[(all.indexOf(from as HTMLElement) + step + all.length) % all.length]?.focus();
}

function Tab({ tab, selected, unsaved, busy, ambiguous, onShow, onKeep, onClose }: TabProps) {
  const name = nameOf(tab.path);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step !== undefined) focusNeighbour(event.currentTarget, step);
    else if (event.key === "Delete") onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div role="presentation" className={classNames("group/tab flex shrink-0 items-center border-b-2", selected ? "border-accent text-text" : "border-transparent text-muted hover:text-text")}>
      <button
        type="button"
        role="tab"
        aria-selected={selected}
        aria-label={[tab.path, unsaved && "unsaved", busy && "an agent works"].filter(Boolean).join(", ")}
        aria-keyshortcuts="Delete"
        tabIndex={selected ? 0 : -1}
        title={tab.path}
        onClick={onShow}
        onDoubleClick={onKeep}
        onAuxClick={(event) => event.button === 1 && onClose()}
        onKeyDown={onKeyDown}
        className={classNames("focus-inset flex h-full max-w-56 items-center gap-1 pl-3 text-left", tab.preview && "italic")}
      >
        {busy && <Hourglass size={12} aria-hidden className="shrink-0 text-muted" />}
        <span className="truncate">{name}</span>
        {ambiguous && <span className="truncate text-xs text-muted">{nameOf(parentOf(tab.path))}</span>}
      </button>
      {/* Keys close a tab by Delete, and by the palette. */}
      <button type="button" aria-hidden tabIndex={-1} title="Close" onClick={onClose} className="mx-1 flex size-5 items-center justify-center rounded-sm hover:bg-surface-2">
        {unsaved && <span className="group-hover/tab:hidden">●</span>}
        <X size={13} className={classNames("group-hover/tab:block", unsaved ? "hidden" : !selected && "opacity-0 group-hover/tab:opacity-100")} />
      </button>
    </div>
  );
}

/** Elements with role "tab", inside the tab list of the branch workspace, after Chat. */
export function FileTabs({ repo, branch, at, path }: FileTabsProps) {
  const navigate = useNavigate();
  const tabs = useTabs(repo, branch);
  const everywhere = useUnsaved();
  const busy = useBranchState(repo, branch, at).busy !== null;
  const unsaved = useMemo(() => new Set(everywhere.filter((file) => file.repo === repo && file.branch === branch).map((file) => file.path)), [everywhere, repo, branch]);

  useEffect(() => {
    if (path === undefined) return;
    showTab(repo, branch, path);
    rememberFile(repo, path);
  }, [repo, branch, path]);

  const show = (file: string) => void navigate(filePlace({ repo, branch, file, at }));
  const close = async (file: string) => {
    if ((await askToClose({ repo, branch, path: file })) === "cancel") return;
    const next = nextInFront(tabs, file);
    closeTab(repo, branch, file);
    forgetFile({ repo, branch, path: file });
    if (file !== path) return;
    void navigate(next === undefined ? branchPlace({ repo, branch, at, tab: "chat" }) : filePlace({ repo, branch, file: next, at }));
  };
  const step = (by: number) => {
    const places = [undefined, ...tabs.map((tab) => tab.path)];
    const next = places[(places.indexOf(path) + by + places.length) % places.length];
    void navigate(next === undefined ? branchPlace({ repo, branch, at, tab: "chat" }) : filePlace({ repo, branch, file: next, at }));
  };
  useCommand({ id: "file.close", title: "Close the file", group: "Files", keys: "alt+w", run: () => path !== undefined && void close(path), enabled: path !== undefined });
  useCommand({ id: "file.keep", title: "Keep the file open", group: "Files", run: () => path !== undefined && pinTab(repo, branch, path), enabled: path !== undefined });
  useCommand({ id: "file.next-tab", title: "Next tab", group: "Files", keys: "alt+pagedown", run: () => step(1), enabled: tabs.length > 0 });
  useCommand({ id: "file.previous-tab", title: "Previous tab", group: "Files", keys: "alt+pageup", run: () => step(-1), enabled: tabs.length > 0 });

  return (
    <>
      {tabs.map((tab) => (
        <Tab
          key={tab.path}
          tab={tab}
          selected={tab.path === path}
          unsaved={unsaved.has(tab.path)}
          busy={busy}
          ambiguous={tabs.some((other) => other !== tab && nameOf(other.path) === nameOf(tab.path))}
          onShow={() => show(tab.path)}
          onKeep={() => pinTab(repo, branch, tab.path)}
          onClose={() => void close(tab.path)}
        />
      ))}
      <UnsavedDialog />
    </>
  );
}
