import { lazy, memo, Suspense } from "react";

import { patiently } from "@/lib/patiently";

import "./markdown.css";

const Rendered = lazy(() => patiently(() => import("./MarkdownText")));

export interface MarkdownProps {
  text: string;
  /** Where a link to a file of the repository leads, if the text has such links. */
  onLink?: ((href: string) => void) | undefined;
}

/** Sanitised, and fetched when the first text is shown; until then, the text as it is. */
export const Markdown = memo(function Markdown(props: MarkdownProps) {
  return (
    <Suspense fallback={<div className="break-words whitespace-pre-wrap">{props.text}</div>}>
      <Rendered {...props} />
    </Suspense>
  );
});
