/** The person's note on a project. */
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { answer, api, keys, type Shapes } from "@/api";

export type Note = Shapes["NoteShape"];

const noteKey = (project: string) => [...keys.project(project), "note"];

export function useNote(project: string) {
  return useQuery({
    queryKey: noteKey(project),
    queryFn: ({ signal }) => answer(api.GET("/api/projects/{project}/note", { params: { path: { project } }, signal })),
  });
}

/** `keepalive` lets the last words out of a page that is being closed. */
export function useSaveNote(project: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: Shapes["NewNote"]) =>
      answer(api.PUT("/api/projects/{project}/note", { params: { path: { project } }, body, keepalive: true })),
    onSuccess: (saved) => client.setQueryData(noteKey(project), saved),
  });
}
