import { Link } from "@tanstack/react-router";
import { FolderX } from "lucide-react";
import type { ReactNode } from "react";

import { isProblem, useRepositories, useRepository } from "@/api";
import { EmptyState, ErrorState, Skeleton } from "@/ui";

/** Shows a repository's screens only where there is one: else each part of them would tell the same error. */
export function KnownRepository({ repo, children }: { repo: string; children: ReactNode }) {
  const listed = useRepositories().data?.some((each) => each.id === repo) === true;
  const repository = useRepository(repo);
  if (isProblem(repository.error, "repository_missing")) {
    return (
      <main className="min-h-0 flex-1 overflow-auto">
        <EmptyState icon={FolderX} title="No such repository" action={<Link to="/" className="text-accent underline">All repositories</Link>}>
          It was removed from Forge, or it is not shared with you.
        </EmptyState>
      </main>
    );
  }
  if (listed || repository.data !== undefined) return children;
  if (repository.isError) return <ErrorState error={repository.error} onRetry={() => void repository.refetch()} />;
  return <Skeleton lines={6} label="Loading the repository" />;
}
