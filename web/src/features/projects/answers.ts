/** Open questions: what can be offered as chips, and how answers are sent together. */

const YES_NO = /^(is|are|do|does|did|should|shall|can|could|will|would|must|may|has|have)\b/i;
const EITHER = /^(?:[^,:?]*[,:]\s*)?([^,:?]{1,40}?(?:,\s*[^,:?]{1,40}?)*),?\s+or\s+([^,:?]{1,40})\?$/i;
export const DECIDE = "Decide this yourself, and say why.";

/** Ready answers found in the words of a question. */
export function optionsOf(question: string): string[] {
  const text = (question.split(/(?<=[.!])\s+/).at(-1) ?? question).trim();
  if (YES_NO.test(text)) return /\bor\b/i.test(text) ? [] : ["Yes", "No"];
  const found = EITHER.exec(text);
  if (found === null) return [];
  const options = [...(found[1] ?? "").split(/,\s*/), found[2] ?? ""].map((each) => each.trim());
  // More words than a name has are a sentence, which is no answer.
  if (options.some((each) => each === "" || each.split(/\s+/).length > 4)) return [];
  return options.map((each) => each.charAt(0).toUpperCase() + each.slice(1));
}

/** "1: …" lines for those that are answered, by the number of their question; "" where none is. */
export function together(answers: readonly string[]): string {
  const lines = answers.map((text, i) => ({ number: i + 1, text: text.split(/\s*\n\s*/).join(" ").trim() }));
  return lines
    .filter(({ text }) => text !== "")
    .map(({ number, text }) => `${number}: ${text}`)
    .join("\n");
}
