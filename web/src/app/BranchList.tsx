import { Link } from "@tanstack/react-router";
import { GitBranch, MoreHorizontal, Sparkles } from "lucide-react";
import { useState } from "react";

import { useBranches, useSessions, type Branch, type Repository, type Session } from "@/api";
import { classNames } from "@/lib/class_names";
import { cost, plural } from "@/lib/format";
import { branchPlace } from "@/lib/places";
import { Badge, Button, ContextMenu, ErrorState, Menu, Skeleton } from "@/ui";

import { useBranchMenu } from "./branch_menu";
import { useHere } from "./here";

const FIRST = 30;

/** Open and default ones first, then those that moved last. */
export function sorted(branches: readonly Branch[]): Branch[] {
  return [...branches].sort((a, b) => Number(b.is_default) - Number(a.is_default) || b.time - a.time);
}

export function BranchList({ repository }: { repository: Repository }) {
  const { data, error, refetch, hasNextPage, fetchNextPage } = useBranches(repository.id);
  const sessions = useSessions(repository.id);
  const [most, setMost] = useState(FIRST);
  if (data === undefined) {
    return error === null ? <Skeleton /> : <ErrorState compact error={error} onRetry={() => void refetch()} />;
  }
  const shown = sorted(data).slice(0, most);
  const more = () => {
    setMost(most + 200);
    if (hasNextPage && most + 200 > data.length) void fetchNextPage();
  };
  return (
    <ul aria-label={`Branches of ${repository.name}`}>
      {shown.map((branch) => (
        <BranchItem
          key={branch.name}
          repo={repository.id}
          branch={branch}
          main={repository.default_branch}
          session={sessions.data?.find((each) => each.branch === branch.name)}
        />
      ))}
      {(data.length > most || hasNextPage) && (
        <li className="px-7 py-1">
          <Button small kind="quiet" onClick={more}>
            {`Show more of ${data.length}${hasNextPage ? "+" : ""}`}
          </Button>
        </li>
      )}
    </ul>
  );
}

interface ItemProps {
  repo: string;
  branch: Branch;
  main: string | null;
  session: Session | undefined;
}

function BranchItem({ repo, branch, main, session }: ItemProps) {
  const here = useHere();
  const entries = useBranchMenu(repo, branch, main);
  const current = here.repo === repo && here.branch === branch.name;
  const Icon = branch.ai ? Sparkles : GitBranch;
  return (
    <li>
      <ContextMenu entries={entries}>
        <div className={classNames("group mx-1.5 flex h-7 items-center rounded-md pl-5 hover:bg-surface-2", current && "bg-surface-2")}>
          <Link
            {...branchPlace({ repo, branch: branch.name })}
            title={`${branch.name}\n${branch.subject}`}
            aria-current={current ? "page" : undefined}
            className="focus-inset flex h-full min-w-0 flex-1 items-center gap-1.5 rounded-md pl-1"
          >
            <Icon aria-hidden size={13} className={classNames("shrink-0", branch.ai ? "text-accent" : "text-muted")} />
            <span className="min-w-0 flex-1 truncate">{branch.name}</span>
            <Marks branch={branch} session={session} />
          </Link>
          <Menu entries={entries} align="end">
            <button
              type="button"
              aria-label={`Actions for ${branch.name}`}
              className="focus-inset flex size-6 items-center justify-center rounded-md text-muted opacity-0 group-hover:opacity-100 focus-visible:opacity-100 data-[state=open]:opacity-100"
            >
              <MoreHorizontal aria-hidden size={14} />
            </button>
          </Menu>
        </div>
      </ContextMenu>
    </li>
  );
}

function Marks({ branch, session }: { branch: Branch; session: Session | undefined }) {
  if (branch.busy !== null) return <Badge meaning="running">{session ? `turn ${session.turns + 1}` : "turn"}</Badge>;
  if (session === undefined || session.turns === 0) {
    return branch.is_default ? <span className="text-xs text-muted">default</span> : null;
  }
  const spent = session.usage.cost === null || session.usage.cost === 0 ? "" : ` · ${cost(session.usage.cost)}`;
  return <span className="shrink-0 text-xs text-muted">{`${plural(session.turns, "turn")}${spent}`}</span>;
}
