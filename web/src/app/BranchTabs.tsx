import { Link, useNavigate } from "@tanstack/react-router";
import { GitBranch, Network, Plus, Sparkles, X } from "lucide-react";

import { useBranches, useRepositories, type Branch } from "@/api";
import { classNames } from "@/lib/class_names";
import { useCommand } from "@/lib/commands";
import { branchPlace, repositoryPlace } from "@/lib/places";
import { ContextMenu, IconButton } from "@/ui";

import { useBranchMenu } from "./branch_menu";
import { useHere } from "./here";
import { useCloseBranch, useOpenBranches, useOpened } from "./open_branches";
import { useShell } from "./shell_state";

const TAB = "focus-inset flex h-full min-w-0 items-center gap-1.5 border-b-2 border-transparent text-muted hover:text-text";
const HERE = "border-accent! bg-surface-0 text-text";

/** The open branches of one repository, its graph first. */
export function BranchTabs({ repo }: { repo: string }) {
  const here = useHere();
  useOpened(repo, here.branch);
  const [open] = useOpenBranches(repo);
  const branches = useBranches(repo);
  const main = useRepositories().data?.find((each) => each.id === repo)?.default_branch ?? null;
  const { setDialog } = useShell();
  const onNew = () => setDialog({ kind: "new", repo, ...(here.branch !== undefined && { start: here.branch }) });
  useTabCommands(repo, open, here.branch);
  return (
    <nav aria-label="Open branches" className="flex h-9 shrink-0 items-stretch border-b border-line bg-surface-1">
      <div className="flex min-w-0 overflow-x-auto [scrollbar-width:none]">
        <Link {...repositoryPlace(repo)} className={classNames(TAB, "shrink-0 px-3")} activeOptions={{ exact: true }} activeProps={{ className: HERE }}>
          <Network aria-hidden size={14} />
          Graph
        </Link>
        {open.map((name) => (
          <BranchTab key={name} repo={repo} name={name} main={main} branch={branches.data?.find((each) => each.name === name)} />
        ))}
      </div>
      <span className="flex items-center px-1">
        <IconButton small icon={Plus} label="New branch" keys="n" onClick={onNew} />
      </span>
    </nav>
  );
}

interface TabProps {
  repo: string;
  name: string;
  main: string | null;
  /** Undefined while it is not known, or gone. */
  branch: Branch | undefined;
}

function BranchTab({ repo, name, main, branch }: TabProps) {
  const here = useHere();
  const close = useClose(repo);
  const ai = branch?.ai ?? name.startsWith("ai/");
  const busy = branch?.busy ?? null;
  const entries = useBranchMenu(repo, branch ?? { name, ai, busy, protected: true, is_default: true }, main);
  const Icon = ai ? Sparkles : GitBranch;
  const current = here.repo === repo && here.branch === name;
  return (
    <ContextMenu entries={[{ label: "Close tab", icon: X, onSelect: () => close(name) }, null, ...entries.slice(1)]}>
      <div className={classNames("group flex max-w-60 min-w-24 items-stretch border-r border-line", current && "bg-surface-0")}>
        <Link
          {...branchPlace({ repo, branch: name })}
          title={name}
          aria-current={current ? "page" : undefined}
          className={classNames(TAB, "flex-1 pl-3", current && HERE)}
          onAuxClick={(event) => event.button === 1 && close(name)}
        >
          <Icon aria-label={ai ? "AI branch" : "Branch"} size={13} className={classNames("shrink-0", ai && "text-accent")} />
          <span className={classNames("truncate", ai && "italic")}>{name}</span>
          {busy !== null && <span role="img" aria-label="A turn is running" className="size-1.5 shrink-0 rounded-full bg-running" />}
        </Link>
        <button
          type="button"
          aria-label={`Close ${name}`}
          onClick={() => close(name)}
          className={classNames(
            "focus-inset flex w-6 items-center justify-center border-b-2 border-transparent text-muted hover:text-text",
            current ? "border-accent!" : "opacity-0 group-hover:opacity-100 focus-visible:opacity-100",
          )}
        >
          <X aria-hidden size={13} />
        </button>
      </div>
    </ContextMenu>
  );
}

/** Closing the one in view goes to its neighbour. */
function useClose(repo: string) {
  const here = useHere();
  const navigate = useNavigate();
  const closed = useCloseBranch(repo);
  return (name: string) => {
    const next = closed(name);
    if (here.branch === name) void navigate(next === undefined ? repositoryPlace(repo) : branchPlace({ repo, branch: next }));
  };
}

function useTabCommands(repo: string, open: readonly string[], current: string | undefined) {
  const navigate = useNavigate();
  const close = useClose(repo);
  const step = (by: number) => {
    const next = open.at((open.indexOf(current ?? "") + by) % open.length);
    if (next !== undefined) void navigate(branchPlace({ repo, branch: next }));
  };
  const several = open.length > 1;
  useCommand({ id: "tabs.next", title: "Next branch tab", group: "Branch", keys: "alt+shift+pagedown", enabled: several, run: () => step(1) });
  useCommand({ id: "tabs.previous", title: "Previous branch tab", group: "Branch", keys: "alt+shift+pageup", enabled: several, run: () => step(-1) });
  useCommand({ id: "tabs.close", title: "Close branch tab", group: "Branch", keys: "alt+shift+w", enabled: current !== undefined, run: () => current !== undefined && close(current) });
}
