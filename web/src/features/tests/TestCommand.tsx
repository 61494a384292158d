import { useState } from "react";

import { useSetBranchTestCommand, useTestCommand } from "@/api";
import { Button, Dialog, InlineCode, Input, toast } from "@/ui";

/** The command that runs the tests, and a way to set another for this repository. */
export function TestCommand({ repo, branch }: { repo: string; branch: string }) {
  const { data } = useTestCommand(repo, branch);
  const set = useSetBranchTestCommand(repo, branch);
  const [draft, setDraft] = useState<string>();
  if (data === undefined) return null;
  const save = () =>
    set.mutate(draft ?? "", {
      onSuccess: () => setDraft(undefined),
      onError: (error) => toast({ text: error.message, meaning: "bad" }),
    });
  return (
    <>
      <span className="min-w-0 text-xs break-words text-muted">
        <InlineCode text={data.text} />
      </span>
      <Button small kind="quiet" onClick={() => setDraft(data.set_command)}>
        Set command
      </Button>
      <Dialog
        open={draft !== undefined}
        onClose={() => setDraft(undefined)}
        title="Test command"
        actions={
          <Button kind="primary" busy={set.isPending} onClick={save}>
            Save
          </Button>
        }
      >
        <p className="mb-2 text-sm text-muted">One shell line for every branch of this repository. Empty: Forge finds the tests in the files.</p>
        <Input aria-label="Test command" placeholder="python3 -m pytest -q" value={draft ?? ""} maxLength={1000} onChange={(event) => setDraft(event.target.value)} />
      </Dialog>
    </>
  );
}
