import { Link } from "@tanstack/react-router";
import { History } from "lucide-react";

import { branchPlace } from "@/lib/places";
import { CommitId } from "@/ui";

/** Instead of the composer, where the past is shown. */
export function PastBanner({ repo, branch, at }: { repo: string; branch: string; at: string }) {
  return (
    <div role="note" className="flex h-9 shrink-0 items-center justify-center gap-2 border-t border-line bg-surface-1 text-xs">
      <History aria-hidden size={14} className="text-muted" />
      <span>
        The conversation as it was at <CommitId commit={at} />
      </span>
      <Link {...branchPlace({ repo, branch })} className="text-accent underline underline-offset-2">
        Back to now
      </Link>
    </div>
  );
}
