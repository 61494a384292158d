import { CircleHelp } from "lucide-react";
import { useEffect, useRef, type ReactNode, type Ref } from "react";

import type { Shapes } from "@/api";
import { useStored } from "@/lib/stored";
import { Button, Chip, TextArea } from "@/ui";

import { DECIDE, given, optionsOf } from "./answers";

const NONE: Record<string, string> = {};

export interface OpenQuestionsProps {
  project: string;
  questions: readonly string[];
  blocked: boolean;
  busy: boolean;
  /** False where it could not be sent. */
  onAnswer: (answers: Shapes["AnswerGiven"][]) => Promise<unknown>;
}

/** All open questions of a specification; what is answered is sent together. */
export function OpenQuestions({ project, questions, blocked, busy, onAnswer }: OpenQuestionsProps) {
  const [drafts, setDrafts] = useStored(`draft:answers:${project}`, NONE);
  const texts = questions.map((question) => drafts[question] ?? "");
  const answered = texts.filter((text) => text.trim() !== "").length;
  const send = async () => {
    if ((await onAnswer(given(texts))) !== false) setDrafts(NONE);
  };
  return (
    <section aria-label="Open questions" className="flex flex-col gap-3 rounded-md border border-attention p-3">
      {questions.map((question, i) => (
        <Question
          key={question}
          number={questions.length > 1 ? i + 1 : undefined}
          question={question}
          value={texts[i] ?? ""}
          onChange={(text) => setDrafts((before) => ({ ...before, [question]: text }))}
        />
      ))}
      <div className="flex items-center gap-2">
        <Button kind="primary" small disabled={answered === 0 || blocked} busy={busy} onClick={() => void send()}>
          {questions.length === 1 ? "Send the answer" : `Send ${answered} of ${questions.length} answers`}
        </Button>
        <span className="text-xs text-muted">The specification is drafted again with them.</span>
      </div>
    </section>
  );
}

export interface InputCardProps {
  project: string;
  question: string;
  stuck: Shapes["StuckShape"] | null;
  blocked: boolean;
  busy: boolean;
  onInput: (answers: Shapes["AnswerGiven"][]) => Promise<unknown>;
}

/** What a stuck build asks. */
export function InputCard({ project, question, stuck, blocked, busy, onInput }: InputCardProps) {
  const [draft, setDraft] = useStored(`draft:input:${project}`, "");
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const send = async () => {
    if ((await onInput(given([draft]))) !== false) setDraft("");
  };
  return (
    <section aria-label="Input for the build" className="flex flex-col gap-3 rounded-md border border-attention p-3">
      <Question question={question} options={stuck?.options} value={draft} onChange={setDraft} field={field}>
        {stuck !== null && <StuckDetails stuck={stuck} />}
      </Question>
      <div>
        <Button kind="primary" small disabled={draft.trim() === "" || blocked} busy={busy} onClick={() => void send()}>
          Send the input
        </Button>
      </div>
    </section>
  );
}

export interface SceneQuestionProps {
  question: string;
  busy: boolean;
  onAnswer: (about: "background" | "problem") => void;
}

/** What the first message is, where no model can tell. Nobody has to answer it. */
export function SceneQuestion({ question, busy, onAnswer }: SceneQuestionProps) {
  return (
    <section aria-label="About your first message" className="flex flex-wrap items-center gap-2 rounded-md border border-line p-3">
      <span className="min-w-0 flex-1">{question}</span>
      <Button small disabled={busy} onClick={() => onAnswer("background")}>
        Background
      </Button>
      <Button small disabled={busy} onClick={() => onAnswer("problem")}>
        The problem
      </Button>
    </section>
  );
}

/** What is known about a question of the build: the tests it is about, and the agent's own words. */
function StuckDetails({ stuck }: { stuck: Shapes["StuckShape"] }) {
  return (
    <>
      {stuck.tests.length > 0 && (
        <p className="min-w-0 break-words text-sm text-muted">
          Tests: <code className="break-all">{stuck.tests.join(", ")}</code>
        </p>
      )}
      {stuck.explanation !== "" && (
        <blockquote className="min-w-0 border-l-2 border-line pl-2 text-sm break-words whitespace-pre-wrap text-muted">
          {stuck.explanation}
        </blockquote>
      )}
    </>
  );
}

interface QuestionProps {
  number?: number | undefined;
  question: string;
  /** Where whoever asks names them; else they are found in the question. */
  options?: readonly string[] | undefined;
  children?: ReactNode;
  value: string;
  onChange: (text: string) => void;
  field?: Ref<HTMLTextAreaElement>;
}

function Question({ number, question, options: named, value, onChange, field, children }: QuestionProps) {
  const options = [...(named !== undefined && named.length > 0 ? named : optionsOf(question)), DECIDE];
  return (
    <div className="flex flex-col gap-1.5">
      <p className="flex gap-1.5 font-medium">
        <CircleHelp aria-hidden size={15} className="mt-0.5 shrink-0 text-attention" />
        <span className="min-w-0 break-words">{number === undefined ? question : `${number}. ${question}`}</span>
      </p>
      {children}
      <div className="flex flex-wrap gap-1.5">
        {options.map((option) => (
          <Chip key={option} pressed={value === option} onClick={() => onChange(value === option ? "" : option)}>
            {option === DECIDE ? "Let Forge decide" : option}
          </Chip>
        ))}
      </div>
      <TextArea
        ref={field}
        aria-label={`Answer: ${question}`}
        placeholder="Or in your own words"
        rows={1}
        most={6}
        value={value === DECIDE ? "" : value}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}
