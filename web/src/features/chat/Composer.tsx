import { ArrowUp, AtSign, Paperclip, Square } from "lucide-react";
import { useId, useRef, useState, type ClipboardEvent, type DragEvent, type KeyboardEvent, type ReactNode, type RefObject } from "react";

import { classNames } from "@/lib/class_names";
import { Button, IconButton } from "@/ui";

import { AttachmentRow } from "./AttachmentRow";
import type { Attachments } from "./attachments";
import type { SlashCommand } from "./commands_here";
import { useSuggesting } from "./suggesting";
import { Suggestions } from "./Suggestions";
import { mentionsIn, withMention } from "./writing";

export interface ComposerProps {
  repo: string;
  branch: string;
  field: RefObject<HTMLTextAreaElement | null>;
  text: string;
  onText: (text: string) => void;
  onSend: (text: string, mentions: string[]) => void;
  /** What the button does: "Send", "Send on a new branch". */
  action: string;
  isSending: boolean;
  /** A turn is under way: it can be stopped, and what is sent waits. */
  isRunning: boolean;
  isStopping: boolean;
  onStop: () => void;
  /** ↑ in an empty composer. */
  onRecall: () => void;
  /** Null where nothing can be attached. */
  attachments: Attachments | null;
  slash: SlashCommand[];
  placeholder: string;
  /** Above the text: what is being edited. */
  above?: ReactNode;
  /** Beside the buttons: who answers, and what it cost. */
  aside?: ReactNode;
}

export function Composer(props: ComposerProps) {
  const { repo, branch, field, text, onText, attachments, slash, isRunning } = props;
  const [caret, setCaret] = useState(text.length);
  const [isOver, setOver] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const id = useId();
  const suggesting = useSuggesting(repo, branch, text, caret, slash);
  const { wish, items, active } = suggesting;

  const place = (next: string, at: number) => {
    onText(next);
    setCaret(at);
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(at, at);
    });
  };

  const pick = (value: string) => {
    if (wish?.kind === "file") {
      const made = withMention(text, wish, value);
      place(made.text, made.caret);
    } else {
      place("", 0);
      slash.find((command) => command.name === value)?.run();
    }
  };

  const submit = () => {
    if (text.trim() === "" || props.isSending || attachments?.isUploading === true) return;
    props.onSend(text.trim(), mentionsIn(text, new Set(text.includes("@") ? suggesting.paths : [])));
  };

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.nativeEvent.isComposing) return;
    const { key } = event;
    if (wish !== null) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[key];
      const chosen = items[active]?.value;
      if (step !== undefined) suggesting.move(step);
      else if (key === "Escape") suggesting.close();
      else if ((key === "Enter" || key === "Tab") && !event.shiftKey && chosen !== undefined) pick(chosen);
      else return;
      event.preventDefault();
      event.stopPropagation();
    } else if (key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      submit();
    } else if (key === "ArrowUp" && text === "") {
      event.preventDefault();
      props.onRecall();
    }
  };

  const onPaste = (event: ClipboardEvent) => {
    if (attachments === null || event.clipboardData.files.length === 0) return;
    event.preventDefault();
    attachments.add(event.clipboardData.files);
  };

  const onDrop = (event: DragEvent) => {
    setOver(false);
    if (attachments === null || event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    attachments.add(event.dataTransfer.files);
  };

  return (
    <div
      onDragOver={(event) => {
        if (attachments === null || !event.dataTransfer.types.includes("Files")) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
      className={classNames(
        "relative rounded-md border bg-surface-0 transition-colors focus-within:border-accent",
        isOver ? "border-accent bg-surface-1" : "border-line",
      )}
    >
      {wish !== null && (
        <Suggestions
          id={id}
          label={wish.kind === "file" ? "Files" : "Commands"}
          items={items}
          active={active}
          empty={wish.kind === "command" ? "There is no such command." : suggesting.isPending ? "Looking through the files …" : "No file fits."}
          onPick={pick}
        />
      )}
      {props.above}
      {attachments !== null && attachments.all.length > 0 && <AttachmentRow attachments={attachments} />}
      <textarea
        ref={field}
        aria-label="Message"
        aria-autocomplete="list"
        aria-controls={wish === null ? undefined : id}
        aria-activedescendant={wish === null || items.length === 0 ? undefined : `${id}-${active}`}
        rows={2}
        value={text}
        placeholder={isOver ? "Drop the files here" : props.placeholder}
        onChange={(event) => {
          onText(event.target.value);
          setCaret(event.target.selectionStart);
        }}
        onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
        className="field-sizing-content block max-h-60 w-full resize-none bg-transparent px-3 pt-2 outline-none"
      />
      <div className="flex items-center gap-1 p-1.5">
        <IconButton small icon={AtSign} label="Mention a file" onClick={() => place(mentioning(text), mentioning(text).length)} />
        {attachments !== null && <IconButton small icon={Paperclip} label="Attach files" onClick={() => picker.current?.click()} />}
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          aria-label="Files to attach"
          onChange={(event) => {
            attachments?.add(event.target.files ?? []);
            event.target.value = "";
          }}
        />
        {props.aside}
        <span className="flex-1" />
        {isRunning && (
          <Button small icon={Square} busy={props.isStopping} onClick={props.onStop}>
            {props.isStopping ? "Stopping" : "Stop"}
          </Button>
        )}
        {(!isRunning || text.trim() !== "") && (
          <Button small kind="primary" icon={ArrowUp} busy={props.isSending} disabled={text.trim() === "" || attachments?.isUploading === true} onClick={submit}>
            {isRunning ? "Queue" : props.action}
          </Button>
        )}
      </div>
    </div>
  );
}

function mentioning(text: string): string {
  return text === "" || /\s$/.test(text) ? `${text}@` : `${text} @`;
}
