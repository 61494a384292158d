/** Start a project with the person's first words: they are its first message. */
import { useNavigate } from "@tanstack/react-router";

import { answer, api, useCreateProject, type Shapes } from "@/api";
import { writeStored } from "@/lib/stored";
import { projectPlace } from "@/lib/places";
import { toast } from "@/ui";

import { told } from "./problems";
import { draftKey } from "./unsent";

export interface Start {
  start: (words: string, body: Shapes["NewProject"], onStarted?: () => void) => void;
  isPending: boolean;
  error: Error | null;
}

export function useStart(): Start {
  const create = useCreateProject();
  const navigate = useNavigate();
  const begin = async (id: string, words: string) => {
    if (words.trim() !== "") {
      try {
        await answer(
          api.POST("/api/projects/{project}/messages", {
            params: { path: { project: id }, header: { "Idempotency-Key": crypto.randomUUID() } },
            body: { text: words.trim(), answers: [], explore: true, about: "problem" },
          }),
        );
      } catch (error) {
        writeStored(draftKey(id), words); // not sent: it waits in the composer of the project
        toast({ text: told(error), meaning: "bad" });
      }
    }
    await navigate(projectPlace(id));
  };
  const start: Start["start"] = (words, body, onStarted) =>
    create.mutate(body, {
      onSuccess: ({ id }) => {
        onStarted?.();
        void begin(id, words);
      },
    });
  return { start, isPending: create.isPending, error: create.error };
}
