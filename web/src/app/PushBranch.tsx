/** Push a branch to a remote, with its conversation or without it. */
import { useDeferredValue, useState } from "react";

import { ApiProblem, usePush, usePushPreview, useRemotes } from "@/api";
import { plural } from "@/lib/format";
import { Button, Chip, ConversationChoice, Dialog, ErrorState, Input, Skeleton, toast, type Along } from "@/ui";

import { nameProblem } from "./branch_names";

const DONE = { created: "Created", updated: "Updated", replaced: "Replaced" } as const;

export function PushBranch({ repo, branch, onClose }: { repo: string; branch: string; onClose: () => void }) {
  const remotes = useRemotes(repo);
  const [remote, setRemote] = useState<string>();
  const [to, setTo] = useState(branch);
  const [along, setAlong] = useState<Along>();
  const [replace, setReplace] = useState(false);
  const known = remotes.data ?? [];
  const chosen = remote ?? known[0]?.name;
  const wrong = nameProblem(to);
  const name = useDeferredValue(to);
  const wish = { source: branch, remote: chosen ?? null, to: name, conversation: along ?? null, replace };
  const preview = usePushPreview(repo, wish, chosen !== undefined && name !== "" && nameProblem(name) === undefined);
  const push = usePush(repo);
  const submit = () => {
    if (preview.data === undefined) return;
    push.mutate(
      { ...wish, to, conversation: preview.data.conversation_choice, seen_source: preview.data.source_tip },
      {
        onSuccess: ({ state, remote: where, to: there }) => {
          onClose();
          const at = `${where}/${there}`;
          toast({ text: state in DONE ? `${DONE[state as keyof typeof DONE]} ${at}` : `${at} is up to date`, meaning: "good" });
        },
      },
    );
  };
  const refused = push.error instanceof ApiProblem && push.error.code === "push_rejected";
  const error = push.error ?? preview.error ?? remotes.error;
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Push ${branch}`}
      about={chosen === undefined ? undefined : `To ${chosen}, with git's own credentials. This branch stays as it is.`}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" busy={push.isPending} disabled={preview.data === undefined || to === "" || wrong !== undefined} onClick={submit}>
            Push
          </Button>
        </>
      }
    >
      {remotes.data?.length === 0 ? (
        <p className="text-sm text-muted">This repository has no remote. Add one with git: git remote add origin URL</p>
      ) : (
        <div className="flex flex-col gap-3">
          {known.length > 1 && (
            <div role="group" aria-label="Remote" className="flex flex-wrap gap-1.5">
              {known.map((each) => (
                <Chip key={each.name} pressed={each.name === chosen} onClick={() => setRemote(each.name)}>
                  {each.name}
                </Chip>
              ))}
            </div>
          )}
          <Input label="Branch on the remote" autoFocus value={to} problem={wrong} onChange={(event) => setTo(event.target.value)} />
          {(along !== undefined || preview.data?.conversation_choice != null) && (
            <ConversationChoice chosen={along ?? preview.data?.conversation_choice ?? undefined} onChoose={setAlong} come={preview.data?.conversation ?? null} />
          )}
          {preview.data === undefined && preview.error === null && <Skeleton lines={1} label="Working out what goes along" />}
          {preview.data !== undefined && preview.data.rewritten > 0 && (
            <p className="text-xs text-muted">{`${plural(preview.data.rewritten, "commit")} rewritten for the remote.`}</p>
          )}
          {(refused || replace || preview.data?.replaces === true) && (
            <div>
              <Chip pressed={replace} onClick={() => setReplace(!replace)}>
                Replace the branch there
              </Chip>
              <p className="pt-1 text-xs text-muted">Only if it is still where it was last seen.</p>
            </div>
          )}
        </div>
      )}
      {error !== null && <ErrorState compact error={error} />}
    </Dialog>
  );
}
