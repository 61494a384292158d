import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { answer, api, isProblem, keys } from "@/api";
import { plural } from "@/lib/format";
import { announceSaved } from "@/lib/saved";
import { readDraft, useAsking, writeDraft, type Asking, type FilePlace } from "@/lib/unsaved";
import { Button, Dialog } from "@/ui";

import { knownFile } from "./editor/open_files";

/** As in the editor: over what was seen, or not at all. */
async function saveDraft({ repo, branch, path }: FilePlace): Promise<void> {
  const draft = readDraft({ repo, branch, path });
  if (draft === undefined) return;
  const header = draft.etag === "" ? { "If-None-Match": "*" } : { "If-Match": `"${draft.etag}"` };
  const saved = await answer(
    api.PUT("/api/repositories/{repository}/files/{path}", {
      params: { path: { repository: repo, path }, query: { branch }, header },
      body: draft.text,
      bodySerializer: (body) => body,
      headers: { "Content-Type": "application/octet-stream" },
    }),
  );
  const file = knownFile({ repo, branch, path });
  if (file === undefined) writeDraft({ repo, branch, path }, undefined);
  else file.saved({ text: draft.text, etag: saved.etag ?? "", commit: saved.commit ?? undefined });
  if (saved.commit !== null) announceSaved({ repo, branch, commit: saved.commit });
}

function discardDraft(place: FilePlace): void {
  const file = knownFile(place);
  if (file === undefined) writeDraft(place, undefined);
  else file.discard();
}

function Question({ asking }: { asking: Asking }) {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const { files, why } = asking;
  const one = files.length === 1 ? files[0] : undefined;
  const what = one === undefined ? plural(files.length, "file") : one.path;

  const save = async () => {
    setBusy(true);
    try {
      for (const file of files) await saveDraft(file);
      for (const repo of new Set(files.map((file) => file.repo))) void client.invalidateQueries({ queryKey: keys.repository(repo).slice(0, 2) });
      asking.answer("go");
    } catch (error) {
      const parted = isProblem(error, "file_changed") ? " Open the file to compare and decide." : "";
      setProblem(`${error instanceof Error ? error.message : String(error)}${parted}`);
      setBusy(false);
    }
  };
  const discard = () => {
    files.forEach(discardDraft);
    asking.answer("go");
  };
  return (
    <Dialog
      open
      onClose={() => asking.answer("cancel")}
      title={`Unsaved changes in ${what}`}
      about={
        why === "turn"
          ? "An agent works on the branch as it is saved. Save what you typed, so that it is seen, or discard it."
          : "The tab is about to be closed."
      }
      actions={
        <>
          <Button onClick={() => asking.answer("cancel")}>Cancel</Button>
          <Button onClick={discard}>Discard</Button>
          <Button kind="primary" autoFocus busy={busy} onClick={() => void save()}>
            {one === undefined ? `Save ${plural(files.length, "file")}` : "Save"}
          </Button>
        </>
      }
    >
      {one === undefined && (
        <ul className="list-disc pl-5">
          {files.map((file) => (
            <li key={`${file.branch}:${file.path}`} className="break-all">
              {file.path}
            </li>
          ))}
        </ul>
      )}
      {problem !== undefined && (
        <p role="alert" className="text-bad">
          {problem}
        </p>
      )}
    </Dialog>
  );
}

/** Save, discard or cancel: before a turn, and before a tab with unsaved text is closed. */
export function UnsavedDialog() {
  const asking = useAsking();
  return asking === null ? null : <Question key={asking.files.map((file) => file.path).join("\n")} asking={asking} />;
}
