/** Sentences about uncommitted files in people's checkouts, which the answer to any change of a branch may carry. */

type Listener = (sentences: readonly string[]) => void;

const listeners = new Set<Listener>();

export function onKeptEdits(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Called with every answer; a list of operations has none. */
export function noticeKeptEdits(data: unknown): void {
  if (typeof data !== "object" || data === null || !("kept_edits" in data) || !Array.isArray(data.kept_edits)) return;
  const sentences = data.kept_edits.filter((each) => typeof each === "string");
  if (sentences.length > 0) listeners.forEach((listener) => listener(sentences));
}

/** The first few, and how many more there are. */
export function keptEditsText(sentences: readonly string[]): string {
  const shown = sentences.slice(0, 3);
  const more = sentences.length - shown.length;
  return [...shown.map((each) => `${each}.`), ...(more > 0 ? [`${more.toString()} more; \`git status\` there lists them.`] : [])].join(" ");
}
