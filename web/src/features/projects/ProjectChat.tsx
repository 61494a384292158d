import { FileUp } from "lucide-react";
import { useRef, useState, type DragEvent } from "react";

import { useEarlierMessages, useProjectMessages, useSayToProject, type Project, type Said } from "@/api";
import { Button, ErrorState, Skeleton, toast } from "@/ui";

import { ChatMessages } from "./ChatMessages";
import { Composer } from "./Composer";
import { withoutAsked } from "./answers";
import { ExplorerTurn } from "./ExplorerTurn";
import { quoted } from "./explorer_turn";
import { hasEarlierChats, isEnded, phaseName } from "./phases";
import { told } from "./problems";
import { InputCard, OpenQuestions, SceneQuestion } from "./QuestionCards";
import { useUnsent } from "./unsent";
import { UploadList } from "./UploadList";
import { useUploads } from "./useUploads";
import { WaysOn } from "./WaysOn";
import { WorkUnderWay } from "./WorkUnderWay";

const PLACEHOLDERS: Record<string, string> = {
  brain_dump: "Say what you want: everything that comes to mind, in any order. Drop files, paste links.",
  human_review: "Say what is wrong or missing in the intent.",
  spec_building: "Answer, or say what should be different.",
  building: "Tell the build how to continue.",
};

export interface ProjectChatProps {
  project: Project;
  /** The person asked to give input to a stuck build. */
  inputOpen: boolean;
}

export function ProjectChat({ project, inputOpen }: ProjectChatProps) {
  const messages = useProjectMessages(project.id);
  // Once nothing more can be said, all of it is there to be read.
  const [wanted, setWanted] = useState(false);
  const withEarlier = hasEarlierChats(project) && (wanted || isEnded(project));
  const earlier = useEarlierMessages(project.id, withEarlier);
  const say = useSayToProject(project.id);
  const uploads = useUploads(project.id);
  const field = useRef<HTMLTextAreaElement>(null);
  const draft = useUnsent(project.id);
  const blocked = whyBlocked(project);
  const send = async (said: Said) => {
    try {
      await say.mutateAsync(said);
      return true;
    } catch (error) {
      toast({ text: told(error), meaning: "bad" });
      return false;
    }
  };
  const onQuestion = (question: string) => {
    draft.setText(quoted(question, draft.text));
    field.current?.focus();
  };
  const shared = { project: project.id, blocked: blocked !== undefined, busy: say.isPending };
  return (
    <DropPlace onFiles={uploads.send} disabled={isEnded(project)}>
      {messages.isError ? (
        <ErrorState error={messages.error} onRetry={() => void messages.refetch()} />
      ) : messages.data === undefined ? (
        <Skeleton lines={5} label="Loading the chat" />
      ) : (
        <ChatMessages
          messages={withoutAsked([...(earlier.data ?? []), ...messages.data], askedByCard(project, inputOpen))}
          before={
            earlier.isError ? (
              <ErrorState compact error={earlier.error} onRetry={() => void earlier.refetch()} />
            ) : (
              hasEarlierChats(project) &&
              earlier.data === undefined && (
                <Button small kind="quiet" className="self-center" busy={earlier.isFetching} onClick={() => setWanted(true)}>
                  Show what was said before
                </Button>
              )
            )
          }
        >
          {project.busy && <WorkUnderWay project={project} />}
          {project.problem !== "" && !project.busy && <ErrorState compact error={new Error(project.problem)} />}
          {project.open_questions.length > 0 && !project.busy && (
            <OpenQuestions {...shared} questions={project.open_questions} onAnswer={(answers) => send({ answers })} />
          )}
          {project.scene_question !== "" && !project.busy && (
            <SceneQuestion question={project.scene_question} busy={say.isPending} onAnswer={(about) => void send({ about })} />
          )}
          {project.phase === "brain_dump" && !project.busy && (
            <ExplorerTurn project={project} onQuestion={onQuestion} send={send} sending={say.isPending} />
          )}
          {project.waiting === "stuck" && (inputOpen || project.stuck?.cause === "decision") && (
            <InputCard {...shared} question={project.question} stuck={project.stuck} onInput={(answers) => send({ answers })} />
          )}
          {project.phase === "halted" && !isEnded(project) && !project.busy && <WaysOn project={project} />}
        </ChatMessages>
      )}
      {!isEnded(project) && (
        <div className="mx-auto flex w-full max-w-[calc(76ch+32px)] flex-col gap-1.5 px-4 pb-3">
          <UploadList uploads={uploads.list} onDismiss={uploads.dismiss} />
          <Composer
            field={field}
            project={project.id}
            placeholder={PLACEHOLDERS[project.phase] ?? "What you write is kept until it can be sent."}
            blocked={blocked}
            busy={say.isPending}
            fetches={project.phase === "brain_dump"}
            onSend={(text) => send({ text })}
            onFiles={uploads.send}
          />
        </div>
      )}
    </DropPlace>
  );
}

function askedByCard(project: Project, inputOpen: boolean): string {
  if (project.busy) return "";
  return project.waiting === "stuck" && inputOpen ? project.question : project.scene_question;
}

function whyBlocked(project: Project): string | undefined {
  if (project.actions.includes("correct") || project.actions.includes("provide_input")) return undefined;
  if (project.busy) return "Forge is working. You can write now and send when it is done.";
  return `Nothing can be said while it is ${phaseName(project.phase).toLowerCase()}. Use the buttons above.`;
}

interface DropPlaceProps {
  onFiles: (files: Iterable<File>) => void;
  disabled: boolean;
  children: React.ReactNode;
}

/** The whole chat takes files. The attach button does the same by keyboard. */
function DropPlace({ onFiles, disabled, children }: DropPlaceProps) {
  const [over, setOver] = useState(false);
  const depth = useRef(0);
  const carries = (event: DragEvent) => !disabled && event.dataTransfer.types.includes("Files");
  const move = (event: DragEvent, by: number) => {
    if (!carries(event)) return;
    event.preventDefault();
    depth.current += by;
    setOver(depth.current > 0);
  };
  return (
    <div
      className="relative flex h-full min-h-0 flex-col"
      onDragEnter={(event) => move(event, 1)}
      onDragLeave={(event) => move(event, -1)}
      onDragOver={(event) => move(event, 0)}
      onDrop={(event) => {
        if (!carries(event)) return;
        event.preventDefault();
        depth.current = 0;
        setOver(false);
        onFiles([...event.dataTransfer.files]);
      }}
    >
      {children}
      {over && (
        <div className="pointer-events-none absolute inset-2 z-10 flex items-center justify-center gap-2 rounded-md border-2 border-dashed border-accent bg-surface-0/90 text-accent">
          <FileUp aria-hidden size={18} /> Drop files to give them to the project
        </div>
      )}
    </div>
  );
}
