import { useState } from "react";

import { useEnvironment } from "@/api";
import { useCommand } from "@/lib/commands";
import { Badge } from "@/ui";

import { EnvironmentDialog } from "./EnvironmentDialog";
import { MEANING, WORDS } from "./words";

/** The state of a branch's environment in its header; a branch without one shows nothing. */
export function EnvironmentStatus({ repo, branch }: { repo: string; branch: string }) {
  const [open, setOpen] = useState(false);
  const { data } = useEnvironment(repo, branch);
  const exists = data !== undefined && data.state !== "none";
  useCommand({ id: "workspace.environment", title: "Show the environment", group: "Branch", words: "dependencies setup", run: () => setOpen(true) });
  if (data === undefined) return null;
  return (
    <>
      {exists && (
        <button type="button" aria-label={WORDS[data.state]} className="focus-inset flex shrink-0 items-center rounded-md px-2 py-1 hover:bg-surface-2" onClick={() => setOpen(true)}>
          <Badge meaning={MEANING[data.state]}>
            <span className="max-sm:hidden">{WORDS[data.state]}</span>
          </Badge>
        </button>
      )}
      {open && <EnvironmentDialog repo={repo} branch={branch} environment={data} onClose={() => setOpen(false)} />}
    </>
  );
}
