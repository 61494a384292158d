import { FileWarning, Paperclip, RotateCcw, X } from "lucide-react";

import { byteSize } from "@/lib/format";
import { IconButton } from "@/ui";

import type { Attachment, Attachments } from "./attachments";

function words({ file, path, share, error }: Attachment): string {
  if (error instanceof Error) return error.message;
  if (path !== null) return byteSize(file.size);
  return `${Math.round(share * 100)} %`;
}

/** Files that were attached, each with its way. */
export function AttachmentRow({ attachments }: { attachments: Attachments }) {
  return (
    <ul aria-label="Attachments" className="flex flex-wrap gap-1 px-2 pt-2">
      {attachments.all.map((each) => (
        <li key={each.id} className="relative flex h-6 max-w-full items-center gap-1 overflow-hidden rounded-sm border border-line bg-surface-1 pl-2 text-xs">
          {each.error === null ? <Paperclip aria-hidden size={13} /> : <FileWarning aria-hidden size={13} className="text-bad" />}
          <span className="max-w-50 truncate">{each.file.name}</span>
          <span className={each.error === null ? "text-muted" : "max-w-75 truncate text-bad"} title={words(each)}>
            {words(each)}
          </span>
          {each.error !== null && <IconButton small icon={RotateCcw} label={`Try ${each.file.name} again`} onClick={() => attachments.retry(each)} />}
          <IconButton small icon={X} label={`Take ${each.file.name} off the list`} onClick={() => attachments.remove(each.id)} />
          {each.path === null && each.error === null && (
            <div
              role="progressbar"
              aria-label={`Sending ${each.file.name}`}
              aria-valuenow={Math.round(each.share * 100)}
              className="absolute bottom-0 left-0 h-0.5 bg-running"
              style={{ width: `${each.share * 100}%` }}
            />
          )}
        </li>
      ))}
    </ul>
  );
}
