import { ApiProblem, useUndo } from "@/api";
import { toast } from "@/ui";

/** Takes back an operation (the last one, unless it is named) and says how it went. */
export function useUndoing(repo: string): (operation?: string) => void {
  const { mutate } = useUndo(repo);
  return (operation) =>
    mutate(operation, {
      onSuccess: (undone) => toast({ text: sentence(undone.reason), meaning: "good" }),
      onError: (error) =>
        toast({ text: error instanceof ApiProblem ? `${error.detail} ${error.hint}`.trim() : error.message, meaning: "bad" }),
    });
}

/** "undo: merge a into main" → "Undone: merge a into main". */
function sentence(reason: string): string {
  return `Undone: ${reason.replace(/^undo: /, "")}`;
}
