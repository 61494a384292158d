/** One branch: its files at the left; chat and open files as tabs. */
import { useNavigate } from "@tanstack/react-router";
import { History, PanelLeftClose, PanelLeftOpen, Sparkles, SquareTerminal } from "lucide-react";
import { useState, type ReactNode } from "react";

import { useBranch, isProblem } from "@/api";
import { classNames } from "@/lib/class_names";
import { useCommand } from "@/lib/commands";
import { PHONE, useMediaQuery } from "@/lib/media_query";
import { branchPlace, repositoryPlace, type BranchSearch } from "@/lib/places";
import { useStored } from "@/lib/stored";
import { Button, EmptyState, IconButton, Panel, PanelEdge, Panels } from "@/ui";

import { ChatPanel, EnvironmentStatus, Explorer, FileTabs, FileView, TerminalPanel, TestsPanel, TestsState, TimeSlider } from "./features";

export interface WorkspaceProps extends BranchSearch {
  repo: string;
  branch: string;
}

export function Workspace(props: WorkspaceProps) {
  const { repo, branch } = props;
  const navigate = useNavigate();
  const { error } = useBranch(repo, branch);
  if (isProblem(error, "branch_missing")) {
    return (
      <EmptyState title={`There is no branch ${branch}`} action={<Button onClick={() => void navigate(repositoryPlace(repo))}>Show the graph</Button>}>
        It may have been renamed, merged or deleted.
      </EmptyState>
    );
  }
  return <OpenBranch {...props} />;
}

function OpenBranch({ repo, branch, file, at, tab, line }: WorkspaceProps) {
  const phone = useMediaQuery(PHONE);
  const [beside, setBeside] = useStored("explorer.open", true);
  // On a phone the files lie over the content, and go once one was chosen.
  const [overAt, setOverAt] = useState<string | null>(null);
  const shown = `${tab ?? ""} ${file ?? ""}`;
  const setOver = (open: boolean) => setOverAt(open ? shown : null);
  const [explorer, setExplorer] = phone ? ([overAt === shown, setOver] as const) : ([beside, setBeside] as const);
  const [slider, setSlider] = useStored("time.open", false);
  const navigate = useNavigate();
  const showsTests = tab === "tests";
  const showsTerminal = tab === "terminal";
  // Once opened, a shell stays while somebody looks at other tabs.
  const [terminal, setTerminal] = useState(false);
  if (showsTerminal && !terminal) setTerminal(true);
  const showsFile = file !== undefined && tab !== "chat" && !showsTests && !showsTerminal;
  const showsChat = !showsFile && !showsTests && !showsTerminal;
  const go = (search: BranchSearch) => void navigate(branchPlace({ repo, branch, file, at, ...search }));
  useCommand({ id: "workspace.chat", title: "Go to the chat", group: "Branch", keys: "mod+j", run: () => go({ tab: "chat" }) });
  useCommand({ id: "workspace.tests", title: "Show the tests", group: "Branch", keys: "mod+shift+u", words: "run test results", run: () => go({ tab: "tests" }) });
  useCommand({ id: "workspace.terminal", title: "Terminal", group: "Branch", words: "shell bash command", run: () => go({ tab: "terminal" }) });
  useCommand({ id: "workspace.explorer", title: explorer ? "Hide files" : "Show files", group: "View", keys: "mod+shift+e", run: () => setExplorer(!explorer) });
  useCommand({ id: "workspace.time", title: slider ? "Leave time travel" : "Travel in time", group: "Branch", keys: "mod+shift+h", words: "history slider", run: () => toggleTime() });
  const toggleTime = () => {
    setSlider(!slider);
    if (slider && at !== undefined) go({ at: undefined });
  };
  return (
    <div className="relative h-full min-h-0">
      {phone && explorer && (
        <FilesOver onClose={() => setOver(false)}>
          <Explorer repo={repo} branch={branch} at={at} path={file} />
        </FilesOver>
      )}
      <Panels id="workspace" panelIds={explorer && !phone ? ["explorer", "content"] : ["content"]}>
        {explorer && !phone && (
          <>
            <Panel id="explorer" size={240} min={160} max={520} fixed>
              <Explorer repo={repo} branch={branch} at={at} path={file} />
            </Panel>
            <PanelEdge />
          </>
        )}
        <Panel id="content" min={phone ? 0 : 320}>
          <div className="flex h-9 shrink-0 items-center border-b border-line pr-1">
            <IconButton small className="mx-1" icon={explorer ? PanelLeftClose : PanelLeftOpen} label={explorer ? "Hide files" : "Show files"} keys="mod+shift+e" onClick={() => setExplorer(!explorer)} />
            <div role="tablist" aria-label="Chat and open files" className="flex h-full min-w-0 flex-1 overflow-x-auto [scrollbar-width:none]">
              <ChatTab selected={showsChat} onSelect={() => go({ tab: "chat" })} />
              <FileTabs repo={repo} branch={branch} at={at} path={showsFile ? file : undefined} />
            </div>
            <TestsState repo={repo} branch={branch} selected={showsTests} onSelect={() => go({ tab: showsTests ? undefined : "tests" })} />
            <EnvironmentStatus repo={repo} branch={branch} />
            <IconButton small icon={SquareTerminal} label={showsTerminal ? "Hide the terminal" : "Terminal"} pressed={showsTerminal} onClick={() => go({ tab: showsTerminal ? undefined : "terminal" })} />
            <IconButton small icon={History} label={slider ? "Leave time travel" : "Travel in time"} keys="mod+shift+h" pressed={slider || at !== undefined} onClick={toggleTime} />
          </div>
          {(slider || at !== undefined) && <TimeSlider repo={repo} branch={branch} at={at} onChange={(to) => go({ at: to, tab })} />}
          {/* The chat stays, so that what is being written or read there is still there afterwards. */}
          <div role="tabpanel" aria-label="Chat" hidden={!showsChat} className="min-h-0 flex-1 overflow-auto">
            <ChatPanel repo={repo} branch={branch} at={at} />
          </div>
          {showsTests && (
            <div role="region" aria-label="Tests" className="min-h-0 flex-1 overflow-auto">
              <TestsPanel repo={repo} branch={branch} />
            </div>
          )}
          {terminal && (
            <div role="region" aria-label="Terminal" hidden={!showsTerminal} className="min-h-0 flex-1 overflow-auto">
              <TerminalPanel repo={repo} branch={branch} />
            </div>
          )}
          {showsFile && (
            <div role="tabpanel" aria-label={file} className="min-h-0 flex-1 overflow-auto">
              <FileView key={file} repo={repo} branch={branch} path={file} at={at} line={line} />
            </div>
          )}
        </Panel>
      </Panels>
    </div>
  );
}

function FilesOver({ onClose, children }: { onClose: () => void; children: ReactNode }) {
  return (
    <>
      <button type="button" aria-label="Close the files" className="absolute inset-0 z-10 bg-shade" onClick={onClose} />
      <div className="absolute inset-y-0 left-0 z-10 flex w-70 max-w-[85%] flex-col border-r border-line bg-surface-1 shadow-float">{children}</div>
    </>
  );
}

function ChatTab({ selected, onSelect }: { selected: boolean; onSelect: () => void }) {
  return (
    <button
      type="button"
      role="tab"
      aria-selected={selected}
      onClick={onSelect}
      className={classNames(
        "focus-inset flex shrink-0 items-center gap-1.5 border-b-2 px-3",
        selected ? "border-accent text-text" : "border-transparent text-muted hover:text-text",
      )}
    >
      <Sparkles aria-hidden size={14} className="text-accent" />
      Chat
    </button>
  );
}
