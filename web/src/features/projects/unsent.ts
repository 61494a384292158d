/** What stands in a project's composer and is not sent yet; kept in this browser. */
import { useSayToProject } from "@/api";
import { useStored } from "@/lib/stored";

export interface Unsent {
  text: string;
  setText: (text: string) => void;
  /** Words typed while `text` was on its way stay. */
  dropSent: (sent: string) => void;
}

export function useUnsent(project: string): Unsent {
  const [text, setText] = useStored(`draft:project:${project}`, "");
  const dropSent = (sent: string) => setText((now) => (now.startsWith(sent) ? now.slice(sent.length).trimStart() : now));
  return { text, setText, dropSent };
}

/** Sends it, where there is something; fails as sending a message fails, and then keeps it. */
export function useSendUnsent(project: string): () => Promise<void> {
  const { text, dropSent } = useUnsent(project);
  const say = useSayToProject(project);
  return async () => {
    if (text.trim() === "") return;
    // Whoever distils means the problem, not the background.
    await say.mutateAsync({ text: text.trim(), about: "problem" });
    dropSent(text);
  };
}
