import { ShieldQuestion } from "lucide-react";

import { useToolChange, type Shapes } from "@/api";
import { Button, ErrorState, PatchText } from "@/ui";

type OwnTool = Shapes["OwnToolShape"];

export interface ApprovalCardProps {
  repo: string;
  branch: string;
  tool: OwnTool;
  locked: boolean;
  onRefuse: (tool: OwnTool) => void;
  onApproved: (tool: OwnTool) => void;
  onOpen: (path: string) => void;
}

/** A tool of the repository that nobody has let run yet, as it is now. */
export function ApprovalCard({ repo, branch, tool, locked, onRefuse, onApproved, onOpen }: ApprovalCardProps) {
  const change = useToolChange(repo, branch);
  return (
    <section aria-label={`Approval of ${tool.name}`} className="my-3 flex flex-col gap-2 rounded-md border border-attention px-3 py-2.5">
      <div className="flex items-start gap-2">
        <ShieldQuestion aria-hidden size={16} className="mt-0.5 shrink-0 text-attention" />
        <div className="min-w-0 flex-1 break-words">
          <p className="font-medium">
            May agents run the tool <code className="font-mono text-xs">{tool.name}</code>?
          </p>
          <p className="text-muted">
            {tool.reason} {tool.differs} Approved, it runs as it is now; one changed byte, and it asks again.
          </p>
          <p className="mt-1 flex flex-wrap gap-x-3 font-mono text-xs">
            {tool.files.map((path) => (
              <button key={path} type="button" className="text-accent underline underline-offset-2" onClick={() => onOpen(path)}>
                {path}
              </button>
            ))}
          </p>
        </div>
      </div>
      {tool.difference !== "" && <PatchText text={tool.difference} label={`What changed in ${tool.name} since it was approved`} />}
      <div className="flex gap-2">
        <Button
          small
          kind="primary"
          disabled={locked}
          busy={change.isPending}
          onClick={() => change.mutate({ name: tool.name, approve: true, hash: tool.hash }, { onSuccess: () => onApproved(tool) })}
        >
          Approve {tool.name}
        </Button>
        <Button small onClick={() => onRefuse(tool)}>
          Refuse
        </Button>
        {locked && <span className="self-center text-xs text-muted">Possible when the turn has ended.</span>}
      </div>
      {change.error && <ErrorState compact error={change.error} />}
    </section>
  );
}
