import { useState } from "react";

import { topicOf, useModels, usePress, useStopWork, useTopic, type Project } from "@/api";
import { ProgressLine, RetryRow, toast } from "@/ui";

import { answererOptions } from "./answerers";
import { standing } from "./phases";
import { told } from "./problems";

/** What is being done, as it is told; while a model has trouble, with the ways out. */
export function WorkUnderWay({ project }: { project: Project }) {
  const [progress, setProgress] = useState("");
  // Null until something is heard: whoever comes later knows it from the project.
  const [heard, setHeard] = useState<string | null>(null);
  useTopic(topicOf.project(project.id), ({ event }) => {
    if (event.type === "ModelRetryScheduled") setHeard(`${event.model}: ${event.text}`);
    if (event.type === "ProjectProgressed") {
      setProgress(event.text);
      setHeard("");
    }
    if (event.type === "ProjectMoved") {
      setProgress("");
      setHeard("");
    }
  });
  const trouble = heard ?? project.trouble;
  const { text } = standing(project);
  return (
    <div className="flex flex-col gap-1">
      <div role="status" aria-label="Work under way" className="flex flex-col gap-1 text-running">
        <ProgressLine label={text} />
        <p>{text.charAt(0).toUpperCase() + text.slice(1)}</p>
        {progress !== "" && <p className="text-xs break-words text-muted">{progress}</p>}
      </div>
      {trouble !== "" && <Trouble project={project} text={trouble} />}
    </div>
  );
}

function Trouble({ project, text }: { project: Project; text: string }) {
  const stop = useStopWork(project.id);
  const press = usePress(project.id);
  const models = useModels().data;
  const failed = (error: unknown) => toast({ text: told(error), meaning: "bad" });
  const others = answererOptions(models).filter(({ value }) => !text.startsWith(`${value}:`));
  const onSwitch = (agent: string) =>
    stop.mutateAsync().then(() => press.mutateAsync({ action: "resume", agent })).catch(failed);
  return (
    <RetryRow
      text={text}
      others={others}
      isStopping={stop.isPending || press.isPending}
      onStop={() => stop.mutate(undefined, { onError: failed })}
      onSwitch={(agent) => void onSwitch(agent)}
    />
  );
}
