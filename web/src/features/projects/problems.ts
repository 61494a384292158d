import { ApiProblem } from "@/api";

/** What went wrong and what to do about it, in one line. */
export function told(error: unknown): string {
  if (!(error instanceof ApiProblem)) return error instanceof Error ? error.message : String(error);
  return [error.detail, error.hint].filter((text) => text !== "").join(" ");
}
