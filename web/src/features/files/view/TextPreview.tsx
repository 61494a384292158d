import { useNavigate } from "@tanstack/react-router";
import { useDeferredValue, useEffect, useMemo, useState } from "react";

import { filePlace } from "@/lib/places";
import { Markdown } from "@/ui";

import type { OpenFile } from "../editor/open_file";
import { Picture } from "./Previews";

const PREVIEW_AFTER = 150;

/** What is in the editor, a moment after it was typed. */
export function useLiveText(file: OpenFile): string {
  const [text, setText] = useState(() => file.text());
  useEffect(() => {
    const timer = setInterval(() => setText(file.text()), PREVIEW_AFTER);
    return () => clearInterval(timer);
  }, [file]);
  return useDeferredValue(text);
}

/** "../img/a.md" in "docs/b/c.md" is "docs/img/a.md". */
export function resolved(from: string, href: string): string {
  const clean = decodeURI(href.split(/[#?]/)[0] ?? "");
  const parts = clean.startsWith("/") ? [] : from.split("/").slice(0, -1);
  for (const part of clean.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "." && part !== "") parts.push(part);
  }
  return parts.join("/");
}

export interface TextPreviewProps {
  repo: string;
  branch: string;
  at?: string | undefined;
  path: string;
  text: string;
}

export function MarkdownPreview({ repo, branch, at, path, text }: TextPreviewProps) {
  const navigate = useNavigate();
  const follow = (href: string) => {
    const file = resolved(path, href);
    if (file !== "") void navigate(filePlace({ repo, branch, file, at }));
  };
  return (
    // It scrolls, so the keyboard has to reach it.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div role="region" aria-label={`Preview of ${path}`} tabIndex={0} className="focus-inset h-full overflow-auto px-6 py-4">
      <div className="mx-auto max-w-190">
        <Markdown text={text} onLink={follow} />
      </div>
    </div>
  );
}

export function DrawingPreview({ path, text }: { path: string; text: string }) {
  const bytes = useMemo(() => new TextEncoder().encode(text), [text]);
  return <Picture path={path} bytes={bytes} />;
}
