/** What can be done with a turn that is in the branch. */
import { useMutation } from "@tanstack/react-query";

import { answer, api, useMoved, useRewindSession, useUndo, type Operation } from "@/api";
import { toast } from "@/ui";

const LOOKED_AT = 200;

async function undoCommit(repository: string, commit: string): Promise<Operation> {
  const params = { path: { repository } };
  const page = await answer(
    api.GET("/api/repositories/{repository}/operations", { params: { ...params, query: { limit: LOOKED_AT } } }),
  );
  const found = page.items.find((operation) => operation.moves.some((move) => move.after === commit));
  if (found === undefined) throw new Error("What made this commit is too long ago to be undone here. Go back to an earlier turn instead.");
  return answer(
    api.POST("/api/repositories/{repository}/operations/{operation}/undo", { params: { path: { repository, operation: found.id } } }),
  );
}

const tell = (error: unknown) => {
  const hint = typeof error === "object" && error !== null && "hint" in error ? ` ${String(error.hint)}` : "";
  toast({ text: `${error instanceof Error ? error.message : String(error)}${hint}`, meaning: "bad" });
};

export interface TurnActions {
  undo: (commit: string) => void;
  rewind: (turn: string, number: number | null) => void;
  busy: boolean;
}

/** Each can be taken back for ten seconds from the message, and always from the operations. */
export function useTurnActions(repo: string, branch: string): TurnActions {
  const moved = useMoved(repo);
  const again = useUndo(repo);
  const takeBack = (operation: string) => ({ label: "Undo", run: () => again.mutate(operation, { onError: tell }) });
  const undo = useMutation({
    mutationFn: (commit: string) => undoCommit(repo, commit),
    onSuccess: (operation) => {
      toast({ text: "The turn was undone.", action: { ...takeBack(operation.id), label: "Bring it back" } });
      void moved();
    },
    onError: tell,
  });
  const rewind = useRewindSession(repo, branch);
  return {
    undo: undo.mutate,
    rewind: (turn, number) =>
      rewind.mutate(turn, {
        onSuccess: (move) =>
          toast({ text: `${branch} is back to turn ${number ?? turn}; the rest is kept.`, action: takeBack(move.operation) }),
        onError: tell,
      }),
    busy: undo.isPending || rewind.isPending,
  };
}
