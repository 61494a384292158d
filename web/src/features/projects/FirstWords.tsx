import { ArrowRight } from "lucide-react";
import { type KeyboardEvent } from "react";

import { useStored } from "@/lib/stored";
import { Button, TextArea } from "@/ui";

import { told } from "./problems";
import { useStart } from "./useStart";

/** The entry to a new project: what is written here is its first message, and the explorer answers it. */
export function FirstWords() {
  const [words, setWords] = useStored("draft:first-words", "");
  const { start, isPending, error } = useStart();
  const off = words.trim() === "" || isPending;
  const send = () => {
    if (!off) start(words, { name: null, agent: null, repository: null, after: null, deliverable_type: null }, () => setWords(""));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  return (
    <section aria-label="Start with a problem" className="border-b border-line px-4 py-3">
      <div className="mx-auto flex max-w-200 flex-col gap-1.5">
        <div className="flex items-end gap-2 rounded-md border border-line bg-surface-0 pr-1 pb-1 focus-within:border-accent">
          <div className="min-w-0 flex-1">
            <TextArea
              aria-label="Problem or wish"
              placeholder="What problem or wish do you have? Forge asks questions before anything is built."
              rows={1}
              most={8}
              maxLength={400_000}
              value={words}
              onChange={(event) => setWords(event.target.value)}
              onKeyDown={onKeyDown}
              className="border-0! bg-transparent! outline-none!"
            />
          </div>
          <Button small kind="primary" icon={ArrowRight} disabled={off} busy={isPending} onClick={send}>
            Start
          </Button>
        </div>
        {error !== null && (
          <p role="alert" className="text-bad">
            {told(error)}
          </p>
        )}
      </div>
    </section>
  );
}
