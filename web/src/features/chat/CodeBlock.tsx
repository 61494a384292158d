import { Copy } from "lucide-react";
import { memo, useMemo } from "react";

import { copyText, IconButton } from "@/ui";

import { highlighted, type Ink } from "./highlight";

const INKS: Record<Ink, string | undefined> = {
  plain: undefined,
  comment: "text-muted italic",
  string: "text-good",
  number: "text-attention",
  keyword: "text-accent",
  added: "text-good",
  removed: "text-bad",
};

export interface CodeBlockProps {
  text: string;
  language: string;
  /** Coloured when it is complete. */
  growing?: boolean;
}

export const CodeBlock = memo(function CodeBlock({ text, language, growing = false }: CodeBlockProps) {
  const inked = useMemo(() => (growing ? null : highlighted(text, language)), [text, language, growing]);
  return (
    <figure className="min-w-0 overflow-hidden rounded-md border border-line">
      <figcaption className="flex h-7 items-center justify-between bg-surface-1 pr-1 pl-3 text-xs text-muted">
        <span>{language === "" ? "text" : language}</span>
        <IconButton small icon={Copy} label="Copy the code" onClick={() => void copyText(text, "Copied the code")} />
      </figcaption>
      {/* It scrolls sideways, so the keyboard has to reach it. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0} className="focus-inset max-h-125 overflow-auto px-3 py-2 font-mono text-xs leading-[18px]">
        <code>{inked === null ? text : inked.map((stretch, i) => <span key={i} className={INKS[stretch.ink]}>{stretch.text}</span>)}</code>
      </pre>
    </figure>
  );
});
