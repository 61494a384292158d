import { useEffect, useRef, useState } from "react";

import { isProblem, useMerge, usePreview, type Merge } from "@/api";
import { plural } from "@/lib/format";
import { Button, Chip, ConversationChoice, Dialog, ErrorState, Skeleton, toast, type Along } from "@/ui";

import { ConflictDesk } from "./ConflictDesk";
import { MergePreview } from "./MergePreview";
import { choiceOf, doneSentence, isPossible, offerOf, revName, sentenceOf, VERBS, wishOf, type Verb } from "./offers";
import type { Resolution } from "./resolutions";
import { useUndoing } from "./useUndoing";

export interface MergeDialogProps {
  repo: string;
  kind: "merge" | "rebase" | "cherry-pick";
  /** The branch that moves. */
  target: string;
  sources: string[];
  /** Of a rebase: the commit it begins with. */
  first?: string | null | undefined;
  open: boolean;
  onClose: () => void;
}

/** Shows what would happen; only its button makes it happen. Conflicts are resolved here too. */
export function MergeDialog(props: MergeDialogProps) {
  return props.open ? <OpenDialog key={`${props.kind} ${props.target} ${props.sources.join(" ")} ${props.first ?? ""}`} {...props} /> : null;
}

function OpenDialog({ repo, kind, target, sources, first: from, onClose }: MergeDialogProps) {
  const given = offerOf({ kind, target, sources, ...(from != null && { first: from }) });
  const [verb, setVerb] = useState<Verb>(kind);
  const [along, setAlong] = useState<Along>();
  const offer = { ...given, verb };
  const wish = { ...(sources.length > 1 ? { kind, target, sources } : wishOf(offer)), ...(along && { conversation: along }) };
  const { data: first, error, refetch, isFetching } = usePreview(repo, wish);
  const merge = useMerge(repo);
  const undo = useUndoing(repo);
  const [resolving, setResolving] = useState<{ view: Merge; done: Resolution[] } | null>(null);
  const sentence = sources.length > 1 ? `Cherry-pick ${plural(sources.length, "commit")} onto ${target}` : sentenceOf(offer);

  const nothing = first?.outcome === "up to date";
  const act = useRef<HTMLButtonElement>(null);
  const ready = first !== undefined && !nothing;
  // Once: who then continues to another verb keeps the focus there.
  const begun = useRef(false);
  useEffect(() => {
    if (!ready || begun.current) return;
    begun.current = true;
    act.current?.focus();
  }, [ready]);

  const perform = (seen: Merge, resolutions: Resolution[]) =>
    merge.mutate(
      { ...wish, conversation: seen.conversation_choice, resolutions, seen_target: seen.target_tip, seen_source: seen.sources.at(-1) ?? null },
      {
        onSuccess: ({ view, performed, operation }) => {
          if (view.conflicts.length > 0) {
            setResolving({ view, done: resolutions });
            return;
          }
          onClose();
          if (!performed) toast({ text: "There was nothing to do: it is there already." });
          else toast({ text: doneSentence(offer), meaning: "good", action: { label: "Undo", run: () => undo(operation ?? undefined) } });
        },
      },
    );
  const again = () => {
    merge.reset();
    setResolving(null);
    void refetch();
  };
  const choose = (next: Verb) => {
    setVerb(next);
    setAlong(undefined);
  };
  const moved = isProblem(merge.error, "branch_moved");
  const trouble = merge.error && (
    <div className="mb-2 rounded-md border border-line">
      <ErrorState compact error={merge.error} onRetry={moved ? again : undefined} />
    </div>
  );

  if (resolving !== null) {
    return (
      <Dialog open onClose={onClose} title={sentence} about={about(resolving.view)} size="large">
        {trouble}
        <ConflictDesk
          key={resolving.view.stopped_at ?? ""}
          repo={repo}
          view={resolving.view}
          theirs={revName(offer.source.rev)}
          busy={merge.isPending}
          action={sentence}
          onCancel={onClose}
          onResolved={(found) => perform(resolving.view, [...resolving.done, ...found])}
        />
      </Dialog>
    );
  }
  return (
    <Dialog
      open
      onClose={onClose}
      title={sentence}
      size="medium"
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          {first !== undefined && first.conflicts.length > 0 ? (
            <Button ref={act} kind="primary" onClick={() => setResolving({ view: first, done: [] })}>
              {`Resolve ${plural(first.conflicts.length, "conflict")}`}
            </Button>
          ) : (
            <Button
              ref={act}
              kind="primary"
              disabled={!ready || isFetching}
              busy={merge.isPending}
              onClick={() => first && perform(first, [])}
            >
              {sentence}
            </Button>
          )}
        </>
      }
    >
      {sources.length === 1 && (
        <div role="group" aria-label="How" className="mb-3 flex gap-1.5">
          {VERBS.filter((each) => (given.source.from === undefined ? isPossible(each, given.source) : each === "rebase")).map((each) => (
            <Chip key={each} pressed={verb === each} onClick={() => choose(each)}>
              {choiceOf(each, given.source)}
            </Chip>
          ))}
        </div>
      )}
      {trouble}
      {error ? (
        <ErrorState compact error={error} onRetry={() => void refetch()} />
      ) : first === undefined ? (
        <Skeleton lines={4} label="Working out what would change" />
      ) : (
        <MergePreview repo={repo} offer={offer} view={first} />
      )}
      {(along !== undefined || first?.conversation_choice != null) && (
        <div className="pt-3">
          <ConversationChoice
            chosen={along ?? first?.conversation_choice ?? undefined}
            onChoose={setAlong}
            come={first?.conversation ?? null}
            go={first?.conversation_removed ?? null}
          />
        </div>
      )}
    </Dialog>
  );
}

function about(view: Merge): string {
  const many = plural(view.conflicts.length, "file");
  const step = view.steps.findIndex((each) => each.original === view.stopped_at);
  const where = step < 0 ? "" : ` Commit ${step + 1} of ${view.steps.length}: ${view.steps[step]?.subject ?? ""}.`;
  return `${many} changed on both sides.${where} Nothing is written until you confirm the last step.`;
}
