/** Open questions: what can be offered as chips, and how answers are sent together. */
import type { Shapes } from "@/api";

type AnswerGiven = Shapes["AnswerGiven"];

const YES_NO = /^(is|are|do|does|did|should|shall|can|could|will|would|must|may|has|have)\b/i;
const EITHER = /^(?:[^,:?]*[,:]\s*)?([^,:?]{1,40}?(?:,\s*[^,:?]{1,40}?)*),?\s+or\s+([^,:?]{1,40})\?$/i;
/** Stands for "Let Forge decide" among drafts; it is sent as a delegated answer and never as words. */
export const DECIDE = "\u0000delegated";

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

/** A question that a card asks is not also shown as the last message, unless that says more than one sentence before it. */
export function withoutAsked<M extends { role: string; content: string }>(messages: M[], asked: string): M[] {
  const last = messages.at(-1);
  if (last === undefined || last.role === "human" || asked === "" || !last.content.endsWith(asked)) return messages;
  return last.content.slice(0, -asked.length).includes("\n") ? messages : messages.slice(0, -1);
}

/** What is answered, by the number of its question. */
export function given(answers: readonly string[]): AnswerGiven[] {
  return answers
    .map((text, i) => ({ question: i + 1, text: text === DECIDE ? "" : text.trim(), delegated: text === DECIDE }))
    .filter(({ text, delegated }) => delegated || text !== "");
}
