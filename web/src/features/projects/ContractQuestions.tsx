import { useState } from "react";

import { Button, ErrorState, Skeleton, TextArea, toast } from "@/ui";
import { plural } from "@/lib/format";

import { useAnswerQuestions, useContractQuestions, type ContractQuestion } from "./contract_queries";

/** What contracts are written from: a form, filled in with what the project's documents say. */
export function ContractQuestions({ project }: { project: string }) {
  const questions = useContractQuestions(project);
  const save = useAnswerQuestions(project);
  const [typed, setTyped] = useState<Record<string, string>>({});
  if (questions.isError) return <ErrorState error={questions.error} onRetry={() => void questions.refetch()} />;
  if (questions.data === undefined) return <Skeleton lines={10} label="Loading the questions" />;
  const all = questions.data.questions;
  const store = () =>
    save.mutate(typed, {
      onSuccess: (saved) => {
        setTyped({});
        toast({ text: `${saved.answered} of ${plural(saved.questions.length, "question")} answered` });
      },
    });
  return (
    <form
      aria-label="Questions"
      className="flex min-h-0 min-w-0 flex-1 flex-col"
      onSubmit={(event) => {
        event.preventDefault();
        store();
      }}
    >
      <div className="min-h-0 flex-1 overflow-auto">
        <div className="mx-auto flex max-w-[84ch] flex-col gap-5 px-4 py-3">
          {[...new Set(all.map(({ section }) => section))].map((section) => (
            <fieldset key={section} className="flex flex-col gap-3">
              <legend className="pb-2 font-semibold">{section}</legend>
              {all
                .filter((question) => question.section === section)
                .map((question) => (
                  <TextArea
                    key={question.id}
                    label={question.text}
                    hint={hintOf(question)}
                    rows={question.many ? 3 : 1}
                    value={typed[question.id] ?? question.answer}
                    onChange={(event) => setTyped({ ...typed, [question.id]: event.target.value })}
                  />
                ))}
            </fieldset>
          ))}
        </div>
      </div>
      {save.isError && <ErrorState error={save.error} />}
      <div className="flex shrink-0 items-center justify-end gap-2 border-t border-line px-3 py-2">
        <Button small kind="quiet" disabled={Object.keys(typed).length === 0} onClick={() => setTyped({})}>
          Discard
        </Button>
        <Button small kind="primary" type="submit" busy={save.isPending} disabled={Object.keys(typed).length === 0}>
          Save
        </Button>
      </div>
    </form>
  );
}

function hintOf({ hint, origin }: ContractQuestion): string {
  return origin === "" || origin === "person" ? hint : `From ${origin}.md. ${hint}`;
}
