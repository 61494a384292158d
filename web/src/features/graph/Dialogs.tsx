import { useDeleteBranch } from "@/api";
import { Confirm, toast } from "@/ui";

import { BranchFrom } from "./BranchFrom";
import { BranchPicker } from "./BranchPicker";
import { MergeDialog } from "./MergeDialog";
import { wishOf } from "./offers";
import type { Asking } from "./useAsking";
import { useUndoing } from "./useUndoing";

/** Shows what was asked for. */
export function Dialogs({ repo, asking: { asked, ask, close } }: { repo: string; asking: Asking }) {
  const remove = useDeleteBranch(repo);
  const undo = useUndoing(repo);
  if (asked === null) return null;
  switch (asked.what) {
    case "pick":
      return (
        <BranchPicker
          repo={repo}
          verb={asked.verb}
          source={asked.source}
          onClose={close}
          onPick={(onto) => ask({ what: "merge", offer: { verb: asked.verb, source: asked.source, onto } })}
        />
      );
    case "merge":
      return <MergeDialog repo={repo} {...wishOf(asked.offer)} open onClose={close} />;
    case "branch":
      return <BranchFrom repo={repo} start={asked.start} name={asked.name} onClose={close} />;
    case "delete":
      return (
        <Confirm
          open
          onClose={close}
          title={`Delete ${asked.branch}`}
          about="Its commits stay reachable as an abandoned tip, and undo brings the branch back."
          action={`Delete ${asked.branch}`}
          onConfirm={async () => {
            const { operation } = await remove.mutateAsync(asked.branch);
            toast({ text: `Deleted ${asked.branch}`, action: { label: "Undo", run: () => undo(operation) } });
          }}
        />
      );
  }
}
