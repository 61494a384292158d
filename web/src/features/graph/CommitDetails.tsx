import { Link, useNavigate } from "@tanstack/react-router";
import { Copy, CornerUpLeft, FolderOpen, GitBranchPlus, GitMerge, MoreHorizontal, Sparkles } from "lucide-react";
import type { ReactNode } from "react";

import { useBranches, useCommit, type Shapes } from "@/api";
import { exactTime, plural, shortId } from "@/lib/format";
import { branchPlace, commitPlace, repositoryPlace } from "@/lib/places";
import { AlongText, Button, CommitId, copyText, ErrorState, Menu, RelativeTime, Skeleton } from "@/ui";

import { ChangedFiles } from "./ChangedFiles";
import { Dialogs } from "./Dialogs";
import { authorName, branchesAt, isByAgent, labelsOf } from "./labels";
import { RefLabel } from "./RefLabel";
import { TurnWords } from "./TurnWords";
import { useAsking, type Asking } from "./useAsking";

export interface CommitDetailsProps {
  repo: string;
  commit: string;
  /** Where a parent leads; its own screen unless said otherwise. */
  onCommit?: ((commit: string) => void) | undefined;
  /** Who shows the dialogs; by itself unless said otherwise. */
  asking?: Asking | undefined;
}

/** One commit: what it says, what it changed, what was said in its turn, and what can be done with it. */
export function CommitDetails({ repo, commit, onCommit, asking }: CommitDetailsProps) {
  const own = useAsking();
  const { data, error, refetch } = useCommit(repo, commit);
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton lines={6} />;
  return (
    <>
      <Body repo={repo} detail={data} onCommit={onCommit} ask={(asking ?? own).ask} standing={asking === undefined} />
      {asking === undefined && <Dialogs repo={repo} asking={own} />}
    </>
  );
}

interface BodyProps {
  repo: string;
  detail: Shapes["CommitDetailShape"];
  onCommit: ((commit: string) => void) | undefined;
  ask: Asking["ask"];
  /** A screen of its own. */
  standing: boolean;
}

function Body({ repo, detail, onCommit, ask, standing }: BodyProps) {
  const { commit } = detail;
  const { data: branches } = useBranches(repo);
  const here = branchesAt(detail.refs)[0];
  const branch = here ?? branches?.find((each) => each.is_default)?.name ?? branches?.[0]?.name;
  const labels = labelsOf(detail.refs).filter((label) => label.kind !== "head");
  const isTurn = detail.trailers.some(([name]) => name === "Forge-Turn");
  const body = isTurn ? "" : withoutMarks(commit.message.slice(commit.subject.length));
  const { files } = detail;
  const added = files.reduce((sum, file) => sum + (file.additions ?? 0), 0);
  const deleted = files.reduce((sum, file) => sum + (file.deletions ?? 0), 0);
  return (
    <article aria-label={`Commit ${shortId(commit.id)}`} className="@container mx-auto h-full w-full max-w-250 overflow-y-auto">
      <header className="flex flex-col gap-1.5 px-3 py-3">
        {standing && (
          <Link {...repositoryPlace(repo)} className="flex items-center gap-1 text-xs text-muted hover:text-text">
            <CornerUpLeft aria-hidden size={13} /> All commits
          </Link>
        )}
        <h2 className="text-lg font-semibold break-words">
          {isByAgent(commit.author.name) && <Sparkles aria-label="By an agent" size={15} className="mr-1.5 inline text-accent" />}
          {commit.subject || "No message"}
        </h2>
        {labels.length > 0 && (
          <p className="flex flex-wrap gap-1">
            {labels.map((label) => (
              <RefLabel key={label.kind + label.name} label={label} />
            ))}
          </p>
        )}
        <p className="text-xs text-muted">
          {authorName(commit.author.name)} · {exactTime(commit.author.time)} (<RelativeTime time={commit.author.time} />) ·{" "}
          <CommitId commit={commit.id} />
        </p>
        <Parents ids={commit.parents} repo={repo} onCommit={onCommit} />
        <Actions repo={repo} commit={commit.id} branch={branch} ask={ask} />
      </header>
      {body !== "" && <p className="border-t border-line px-3 py-2 break-words whitespace-pre-wrap">{body}</p>}
      {isTurn && (
        <Part title="Conversation">
          <TurnWords repo={repo} branch={branch} commit={commit.id} />
        </Part>
      )}
      <Part title={`${plural(files.length, "file")} changed`} aside={<Total added={added} deleted={deleted} />}>
        {files.length === 0 ? (
          <p className="px-3 py-2 text-muted">This commit changes no files.</p>
        ) : (
          <ChangedFiles key={commit.id} repo={repo} commit={commit.id} files={files} truncated={detail.truncated} />
        )}
        {(detail.conversation !== null || detail.conversation_removed !== null) && (
          <p className="px-3 py-2 text-xs text-muted">
            <AlongText come={detail.conversation} go={detail.conversation_removed} />
          </p>
        )}
      </Part>
    </article>
  );
}

/** Lines that Forge writes for itself are not what somebody said. */
function withoutMarks(text: string): string {
  return text.replace(/^Forge-[A-Za-z-]+: .*$/gm, "").trim();
}

function Part({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  return (
    <section className="border-t border-line">
      <h3 className="flex justify-between bg-surface-1 px-3 py-1 text-xs font-semibold text-muted">
        {title}
        {aside}
      </h3>
      {children}
    </section>
  );
}

function Total({ added, deleted }: { added: number; deleted: number }) {
  return (
    <span>
      <span className="text-good">+{added}</span> <span className="text-bad">−{deleted}</span>
    </span>
  );
}

function Parents({ ids, repo, onCommit }: { ids: string[]; repo: string; onCommit: BodyProps["onCommit"] }) {
  if (ids.length === 0) return <p className="text-xs text-muted">The first commit</p>;
  const look = "inline-flex h-6 items-center px-0.5 font-mono text-accent underline underline-offset-2";
  return (
    <p className="flex flex-wrap items-center gap-2 text-xs text-muted">
      {ids.length === 1 ? "Parent" : "Parents"}
      {ids.map((id) =>
        onCommit === undefined ? (
          <Link key={id} {...commitPlace(repo, id)} className={look}>
            {shortId(id)}
          </Link>
        ) : (
          <button key={id} type="button" className={look} onClick={() => onCommit(id)}>
            {shortId(id)}
          </button>
        ),
      )}
    </p>
  );
}

function Actions({ repo, commit, branch, ask }: { repo: string; commit: string; branch: string | undefined; ask: Asking["ask"] }) {
  const navigate = useNavigate();
  const source = { rev: commit, isBranch: false };
  return (
    <div className="flex flex-wrap gap-1.5 pt-1">
      <Button small icon={GitBranchPlus} onClick={() => ask({ what: "branch", start: commit })}>
        Branch from here
      </Button>
      <Button small icon={Copy} onClick={() => ask({ what: "pick", verb: "cherry-pick", source })}>
        Cherry-pick onto…
      </Button>
      {branch !== undefined && (
        <Button small icon={FolderOpen} onClick={() => void navigate(branchPlace({ repo, branch, at: commit }))}>
          Open files here
        </Button>
      )}
      <Menu
        entries={[
          { label: "Merge into…", icon: GitMerge, onSelect: () => ask({ what: "pick", verb: "merge", source }) },
          { label: "Copy commit id", icon: Copy, onSelect: () => void copyText(commit, `Copied ${shortId(commit)}`) },
        ]}
      >
        <Button small icon={MoreHorizontal}>
          More
        </Button>
      </Menu>
    </div>
  );
}
