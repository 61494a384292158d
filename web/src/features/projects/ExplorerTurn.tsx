import { Check, Reply, Square } from "lucide-react";
import { useState } from "react";

import { topicOf, useTopic, type Project, type Said } from "@/api";
import { Button, Chip, Markdown, ProgressLine, toast } from "@/ui";

import { useAnswerNow, useExploration, useStopExploring, type Exploration } from "./exploration";
import { heardExplorer, type LiveTurn } from "./explorer_turn";
import { told } from "./problems";

const UNKNOWN = "I do not know yet.";

export interface ExplorerTurnProps {
  project: Project;
  /** Puts the question into the composer, to be answered there. */
  onQuestion: (question: string) => void;
  send: (said: Said) => Promise<unknown>;
  sending: boolean;
}

/** Below the last message: the answer as it is written, then ways to answer it. */
export function ExplorerTurn({ project, onQuestion, send, sending }: ExplorerTurnProps) {
  const known = useExploration(project.id).data;
  const [live, setLive] = useState<LiveTurn | null>(null);
  useTopic(topicOf.project(project.id), ({ event }) => setLive((before) => heardExplorer(before, event)));
  if (known === undefined || project.scene_question !== "") return null;
  if (known.run !== null && (known.waiting || live !== null)) return <Thinking project={project.id} live={live} />;
  if (known.waiting && !sending && known.turn > 0) return <Unanswered project={project.id} />;
  return <Answers known={known} sending={sending} onQuestion={onQuestion} send={send} />;
}

function Thinking({ project, live }: { project: string; live: LiveTurn | null }) {
  const stop = useStopExploring(project);
  return (
    <article aria-label="Forge is answering" aria-busy className="flex flex-col gap-1.5">
      <header className="flex items-center justify-between gap-2 text-xs text-muted">
        <span className="font-medium">Forge</span>
        <Button small kind="quiet" icon={Square} busy={stop.isPending} onClick={() => stop.mutate(undefined, { onError: (error) => toast({ text: told(error), meaning: "bad" }) })}>
          Stop
        </Button>
      </header>
      {live !== null && live.noted.length > 0 && (
        <ul aria-label="Noted in this turn" className="flex flex-col gap-0.5 text-xs text-muted">
          {live.noted.map((text, i) => (
            <li key={`${i} ${text}`} className="flex gap-1.5">
              <Check aria-hidden size={13} className="mt-0.5 shrink-0 text-good" />
              <span className="min-w-0 break-words">{text}</span>
            </li>
          ))}
        </ul>
      )}
      {live !== null && live.text !== "" ? <Markdown text={live.text} /> : <ProgressLine label="Forge is thinking" />}
    </article>
  );
}

function Unanswered({ project }: { project: string }) {
  const answer = useAnswerNow(project);
  return (
    <section aria-label="Not answered" className="flex flex-wrap items-center gap-2 rounded-md border border-line px-3 py-2">
      <span className="min-w-0 flex-1 text-muted">Your last message is not answered.</span>
      <Button small busy={answer.isPending} onClick={() => answer.mutate(undefined, { onError: (error) => toast({ text: told(error), meaning: "bad" }) })}>
        Answer it now
      </Button>
    </section>
  );
}

interface AnswersProps {
  known: Exploration;
  sending: boolean;
  onQuestion: (question: string) => void;
  send: (said: Said) => Promise<unknown>;
}

/** One chip for each question, the proposal, and an honest way past the first question. */
function Answers({ known, sending, onQuestion, send }: AnswersProps) {
  const [first] = known.questions;
  const title = known.modes.find(({ name }) => name === known.proposal?.mode)?.title;
  if (known.turn === 0 || (first === undefined && title === undefined)) return null;
  return (
    <div role="group" aria-label="Ways to answer" className="flex flex-wrap gap-1.5">
      {known.questions.map((question) => (
        <Chip key={question} icon={Reply} disabled={sending} onClick={() => onQuestion(question)}>
          <span title={question}>{question}</span>
        </Chip>
      ))}
      {first !== undefined && (
        <Chip disabled={sending} onClick={() => void send({ text: `> ${first}\n\n${UNKNOWN}` })}>
          I do not know yet
        </Chip>
      )}
      {title !== undefined && (
        <Chip pressed disabled={sending} onClick={() => void send({ text: "yes" })}>
          {`Go on with ${title}`}
        </Chip>
      )}
    </div>
  );
}
