import { Link, useNavigate } from "@tanstack/react-router";
import { GitBranch } from "lucide-react";

import { useAddRepository, useRepositories, type Project } from "@/api";
import { branchPlace } from "@/lib/places";
import { Button, toast } from "@/ui";

import { told } from "./problems";

const bare = (path: string) => path.replace(/\/(\.git\/?)?$/, "");

/** Where the code is built. A repository that Forge does not list yet is added when it is opened. */
export function BuiltBranch({ project, small }: { project: Project; small?: boolean }) {
  const repositories = useRepositories();
  const add = useAddRepository();
  const navigate = useNavigate();
  const { repository, branch } = project;
  if (repository === null || branch === null) return null;
  const known = repositories.data?.find(({ path }) => bare(path) === bare(repository));
  const open = async () => {
    try {
      const added = await add.mutateAsync(bare(repository));
      await navigate(branchPlace({ repo: added.id, branch }));
    } catch (error) {
      toast({ text: told(error), meaning: "bad" });
    }
  };
  const name = `Open branch ${branch}`;
  const look = "focus-inset inline-flex min-w-0 items-center gap-1.5 rounded-md border border-line px-2 hover:bg-surface-2";
  return (
    <div className="flex min-w-0 items-center gap-2">
      {known ? (
        <Link {...branchPlace({ repo: known.id, branch })} aria-label={name} className={`${look} ${small ? "h-6 text-xs" : "h-8"}`}>
          <GitBranch aria-hidden size={14} className="shrink-0" />
          <span className="truncate">{branch}</span>
        </Link>
      ) : (
        <Button small={small ?? false} icon={GitBranch} aria-label={name} busy={add.isPending} onClick={() => void open()} className="min-w-0 shrink">
          <span className="truncate">{branch}</span>
        </Button>
      )}
    </div>
  );
}
