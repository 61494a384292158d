import { CircleCheck, CircleX, FileUp, X } from "lucide-react";

import { byteSize } from "@/lib/format";
import { IconButton, ProgressLine } from "@/ui";

import type { Upload } from "./useUploads";

/** Each file with its progress, or with the reason why it was not taken. */
export function UploadList({ uploads, onDismiss }: { uploads: readonly Upload[]; onDismiss: (id: number) => void }) {
  if (uploads.length === 0) return null;
  return (
    <ul aria-label="Files being sent" className="flex max-h-40 flex-col gap-1 overflow-y-auto">
      {uploads.map((upload) => (
        <li key={upload.id} className="flex items-center gap-2 rounded-md border border-line bg-surface-1 px-2 py-1 text-xs">
          <Mark state={upload.state} />
          <div className="min-w-0 flex-1">
            <div className="flex gap-2">
              <span className="truncate font-medium">{upload.name}</span>
              <span className="shrink-0 text-muted">{words(upload)}</span>
            </div>
            {upload.note !== "" && (
              <p role={upload.state === "refused" ? "alert" : undefined} className={upload.state === "refused" ? "text-bad" : "text-muted"}>
                {upload.note}
              </p>
            )}
            {upload.state === "sending" && <ProgressLine value={upload.share} label={`Sending ${upload.name}`} />}
          </div>
          {(upload.state === "done" || upload.state === "refused") && (
            <IconButton icon={X} label={`Dismiss ${upload.name}`} small onClick={() => onDismiss(upload.id)} />
          )}
        </li>
      ))}
    </ul>
  );
}

function words(upload: Upload): string {
  switch (upload.state) {
    case "waiting":
      return "waits";
    case "sending":
      return `${Math.round(upload.share * 100)} % of ${byteSize(upload.size)}`;
    case "done":
      return `sent, ${byteSize(upload.size)}`;
    case "refused":
      return "not taken";
  }
}

function Mark({ state }: { state: Upload["state"] }) {
  if (state === "done") return <CircleCheck aria-hidden size={14} className="shrink-0 text-good" />;
  if (state === "refused") return <CircleX aria-hidden size={14} className="shrink-0 text-bad" />;
  return <FileUp aria-hidden size={14} className="shrink-0 text-running" />;
}
