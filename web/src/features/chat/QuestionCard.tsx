import { MessageCircleQuestion } from "lucide-react";
import { useEffect, useRef, useState } from "react";

import { useAnswerQuestion, type Question } from "@/api";
import { duration } from "@/lib/format";
import { Button, Chip, ErrorState, TextArea } from "@/ui";

import { useNow } from "./StatusLine";

const YOU_DECIDE = "You decide.";

export interface QuestionCardProps {
  question: Question;
  onAnswered: (question: Question) => void;
}

/** What is asked and why, ready answers, free words, and how long there is. The focus comes here unless somebody writes. */
export function QuestionCard({ question, onAnswered }: QuestionCardProps) {
  const [text, setText] = useState("");
  const answer = useAnswerQuestion();
  const card = useRef<HTMLElement>(null);
  const now = useNow(question.expires !== null);
  useEffect(() => {
    const writing = document.activeElement instanceof HTMLTextAreaElement && document.activeElement.value !== "";
    if (!writing) card.current?.querySelector<HTMLElement>("button, textarea")?.focus();
  }, []);
  const words = question.kind !== "choice";
  const give = (given: string) =>
    answer.mutate({ question: question.id, text: given }, { onSuccess: () => onAnswered(question) });
  const giveText = () => {
    if (text.trim() !== "" && !answer.isPending) give(text.trim());
  };
  return (
    <section ref={card} data-question={question.id} aria-label="Question" className="my-3 flex flex-col gap-2 rounded-md border border-attention px-3 py-2.5">
      <div className="flex items-start gap-2">
        <MessageCircleQuestion aria-hidden size={16} className="mt-0.5 shrink-0 text-attention" />
        <div className="min-w-0 flex-1">
          <p className="font-medium break-words">{question.text}</p>
          {question.context !== "" && <p className="break-words whitespace-pre-wrap text-muted">{question.context}</p>}
        </div>
        {question.expires !== null && <span className="shrink-0 text-xs text-muted">{duration(question.expires - now)} left</span>}
      </div>
      <div className="flex flex-wrap gap-1.5">
        {question.options.map((option) => (
          <Chip key={option} disabled={answer.isPending} onClick={() => give(option)}>
            {option}
          </Chip>
        ))}
        {words && (
          <Chip disabled={answer.isPending} onClick={() => give(YOU_DECIDE)}>
            Let AI decide
          </Chip>
        )}
      </div>
      {words && <form
        className="flex items-end gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          giveText();
        }}
      >
        <div className="flex-1">
          <TextArea
            aria-label="Your answer"
            rows={1}
            most={6}
            value={text}
            placeholder={question.options.length > 0 ? "Or in your own words" : "In your own words"}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
              event.preventDefault();
              giveText();
            }}
          />
        </div>
        <Button type="submit" disabled={text.trim() === ""} busy={answer.isPending}>
          Answer
        </Button>
      </form>}
      {answer.error && <ErrorState compact error={answer.error} />}
    </section>
  );
}
