import { memo, useEffect, useLayoutEffect, useRef, type ReactNode } from "react";

import type { Shapes } from "@/api";
import { Markdown, RelativeTime } from "@/ui";

import { phaseName } from "./phases";

type Message = Shapes["MessageShape"];

export interface ChatMessagesProps {
  messages: readonly Message[];
  /** Above the first message. */
  before?: ReactNode;
  /** Below the last message: work under way, questions. */
  children?: ReactNode;
}

/** The chat, oldest first. It follows what is new only while the person is at the end. */
export function ChatMessages({ messages, before, children }: ChatMessagesProps) {
  const box = useRef<HTMLDivElement>(null);
  const inside = useRef<HTMLDivElement>(null);
  const atEnd = useRef(true);
  useLayoutEffect(() => {
    const element = box.current;
    if (element && atEnd.current) element.scrollTop = element.scrollHeight;
  }, [messages.length]);
  useEffect(() => {
    const [outer, inner] = [box.current, inside.current];
    if (outer === null || inner === null) return;
    const observer = new ResizeObserver(() => {
      if (atEnd.current) outer.scrollTop = outer.scrollHeight;
    });
    observer.observe(inner);
    observer.observe(outer);
    return () => observer.disconnect();
  }, []);
  return (
    <div
      ref={box}
      role="log"
      aria-label="Chat"
      // It scrolls, so the keyboard has to reach it.
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      onScroll={({ currentTarget: it }) => (atEnd.current = it.scrollHeight - it.scrollTop - it.clientHeight < 40)}
      className="focus-inset min-h-0 flex-1 overflow-y-auto px-4 py-3"
    >
      <div ref={inside} className="mx-auto flex max-w-[76ch] flex-col gap-3">
        {before}
        {messages.map((message, i) => (
          <div key={`${message.timestamp} ${i}`} className="flex flex-col gap-3">
            {message.phase !== messages[i - 1]?.phase && <PhaseLine phase={message.phase} />}
            <ChatMessage message={message} />
          </div>
        ))}
        {children}
      </div>
    </div>
  );
}

function PhaseLine({ phase }: { phase: string }) {
  return (
    <div className="flex items-center gap-2 text-xs text-muted">
      <span className="h-px flex-1 bg-line" />
      {phaseName(phase)}
      <span className="h-px flex-1 bg-line" />
    </div>
  );
}

const ChatMessage = memo(function ChatMessage({ message }: { message: Message }) {
  const mine = message.role === "human";
  return (
    <article aria-label={mine ? "You" : "Forge"} className={mine ? "rounded-md border border-line bg-surface-1 px-3 py-2" : ""}>
      <header className="mb-0.5 flex justify-between gap-2 text-xs text-muted">
        <span className="font-medium">{mine ? "You" : "Forge"}</span>
        <RelativeTime time={message.timestamp} />
      </header>
      {mine ? <p className="break-words whitespace-pre-wrap">{message.content}</p> : <Markdown text={message.content} />}
    </article>
  );
});
