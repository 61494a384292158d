import { Download, FileText, FolderOpen } from "lucide-react";

import { artifactAddress, useArtifacts, useResources, type Project } from "@/api";
import { byteSize } from "@/lib/format";
import { EmptyState, ErrorState, Skeleton } from "@/ui";

import { BuiltBranch } from "./BuiltBranch";
import { isEnded } from "./phases";

/** What can be taken away, and what people gave. */
export function Artifacts({ project }: { project: Project }) {
  const artifacts = useArtifacts(project.id);
  const resources = useResources(project.id);
  if (artifacts.isError) return <ErrorState error={artifacts.error} onRetry={() => void artifacts.refetch()} />;
  return (
    <div className="mx-auto flex max-w-200 flex-col gap-5 px-4 py-4">
      <BuiltBranch project={project} />
      <section aria-label="Artifacts" className="flex flex-col gap-2">
        <h2 className="font-semibold">To take away</h2>
        {artifacts.data === undefined ? (
          <Skeleton lines={3} label="Loading the artifacts" />
        ) : artifacts.data.length === 0 ? (
          <EmptyState icon={FileText}>Nothing is written yet. Distill makes the first document.</EmptyState>
        ) : (
          <ul className="divide-y divide-line rounded-md border border-line">
            {artifacts.data.map(({ name, bytes_size }) => (
              <li key={name}>
                <a
                  href={artifactAddress(project.id, name)}
                  download={name}
                  aria-label={`Download ${name}`}
                  className="focus-inset flex items-center gap-2 px-3 py-2 hover:bg-surface-1"
                >
                  <FileText aria-hidden size={15} className="shrink-0 text-muted" />
                  <span className="min-w-0 flex-1 truncate">{name}</span>
                  <span className="text-xs text-muted">{byteSize(bytes_size)}</span>
                  <Download aria-hidden size={14} className="text-muted" />
                </a>
              </li>
            ))}
          </ul>
        )}
      </section>
      <section aria-label="Files given" className="flex flex-col gap-2">
        <h2 className="font-semibold">What you gave it</h2>
        {resources.data?.length ? (
          <ul className="divide-y divide-line rounded-md border border-line">
            {resources.data.map(({ name, bytes_size }) => (
              <li key={name} className="flex items-center gap-2 px-3 py-2">
                <FolderOpen aria-hidden size={15} className="shrink-0 text-muted" />
                <span className="min-w-0 flex-1 truncate">{name}</span>
                <span className="text-xs text-muted">{byteSize(bytes_size)}</span>
              </li>
            ))}
          </ul>
        ) : (
          <p className="text-muted">
            {isEnded(project) ? "No files were given." : "No files yet. Drop them into the chat; they are read with the next distillation."}
          </p>
        )}
      </section>
      <p className="text-xs break-all text-muted">All of it is in {project.directory}</p>
    </div>
  );
}
