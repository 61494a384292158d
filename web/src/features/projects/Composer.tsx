import { Link2, Paperclip, SendHorizontal } from "lucide-react";
import { useId, useRef, type ClipboardEvent, type KeyboardEvent, type Ref } from "react";

import { useSettings } from "@/api";
import { Badge, Button, Chip, IconButton, TextArea } from "@/ui";

import { foundLinks } from "./sources";
import { useUnsent } from "./unsent";

export interface ComposerProps {
  project: string;
  /** What is wanted now, in grey. */
  placeholder: string;
  /** Why nothing can be sent now; the draft stays. */
  blocked: string | undefined;
  busy: boolean;
  /** Whether links are fetched with what is sent now. */
  fetches: boolean;
  onSend: (text: string) => Promise<unknown>;
  onFiles: (files: Iterable<File>) => void;
  field?: Ref<HTMLTextAreaElement>;
}

/** Enter sends, Shift+Enter breaks the line. What is not sent yet is kept in this browser. */
export function Composer({ project, placeholder, blocked, busy, fetches, onSend, onFiles, field }: ComposerProps) {
  const { text: draft, setText: setDraft, dropSent } = useUnsent(project);
  const picker = useRef<HTMLInputElement>(null);
  const why = useId();
  const off = blocked !== undefined || busy || draft.trim() === "";
  const send = async () => {
    if (off) return;
    const sent = draft;
    // A failure, told by whoever sends, keeps all of it.
    if ((await onSend(sent.trim())) !== false) dropSent(sent);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void send();
  };
  const onPaste = (event: ClipboardEvent) => {
    if (event.clipboardData.files.length === 0) return;
    event.preventDefault();
    onFiles(event.clipboardData.files);
  };
  return (
    <div className="flex flex-col gap-1.5">
      {fetches && <Links text={draft} />}
      <div className="rounded-md border border-line bg-surface-0 focus-within:border-accent">
        <TextArea
          ref={field}
          aria-label="Message to the project"
          aria-describedby={blocked === undefined ? undefined : why}
          placeholder={placeholder}
          rows={2}
          most={14}
          maxLength={400_000}
          value={draft}
          onChange={(event) => setDraft(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          className="border-0! bg-transparent! outline-none!"
        />
        <div className="flex items-center gap-2 px-1 pb-1">
          <IconButton icon={Paperclip} label="Attach files" small onClick={() => picker.current?.click()} />
          <input
            ref={picker}
            type="file"
            multiple
            aria-label="Files to attach"
            className="sr-only"
            tabIndex={-1}
            onChange={(event) => {
              onFiles([...(event.target.files ?? [])]);
              event.target.value = "";
            }}
          />
          <span id={why} className="min-w-0 flex-1 truncate text-xs text-muted">
            {blocked ?? "Enter sends, Shift+Enter breaks the line"}
          </span>
          <Button kind="primary" small icon={SendHorizontal} disabled={off} busy={busy} onClick={() => void send()}>
            Send
          </Button>
        </div>
      </div>
    </div>
  );
}

/** Which links of the draft are fetched, and which are not because nobody set that up. */
function Links({ text }: { text: string }) {
  const links = foundLinks(text);
  const settings = useSettings("connectors").data;
  if (links.length === 0) return null;
  return (
    <ul aria-label="Links found" className="flex flex-wrap items-center gap-2">
      {links.map(({ connector, name, url }) => {
        const enabled = settings?.find((each) => each.name === `connectors.${connector}.enabled`)?.value === true;
        return (
          <li key={url} className="flex max-w-full items-center gap-1.5" title={url}>
            <Chip icon={Link2}>{`${name}: ${new URL(url).pathname.split("/").at(-1) ?? ""}`}</Chip>
            {settings !== undefined && (
              <Badge meaning={enabled ? "good" : "attention"}>
                {enabled ? "fetched when you send" : "not fetched: its connector is off (Settings, Connectors)"}
              </Badge>
            )}
          </li>
        );
      })}
    </ul>
  );
}
