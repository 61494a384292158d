import DOMPurify from "dompurify";
import { Marked } from "marked";
import { useMemo, type MouseEvent } from "react";

import { copyText } from "./Values";
import type { MarkdownProps } from "./Markdown";

const marked = new Marked({ gfm: true, breaks: false });
const escaped = (text: string) =>
  text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

marked.use({
  renderer: {
    // A bar with the language and a button that copies; the button works by the listener below.
    code({ text, lang }) {
      const language = escaped((lang ?? "").split(/\s/)[0] ?? "");
      return `<figure class="code"><figcaption><span>${language}</span><button type="button" data-copy>Copy</button></figcaption><pre tabindex="0"><code>${escaped(text)}</code></pre></figure>`;
    },
    // Pages of ours show nothing from elsewhere: a picture becomes a link to it.
    image({ href, text }) {
      return `<a href="${escaped(href)}">${escaped(text === "" ? href : text)}</a>`;
    },
  },
});

const purifier = DOMPurify();
purifier.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName !== "A") return;
  const href = node.getAttribute("href") ?? "";
  if (/^https?:/i.test(href)) {
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer");
  }
});

export function toHtml(text: string): string {
  return purifier.sanitize(marked.parse(text, { async: false }), {
    USE_PROFILES: { html: true },
    FORBID_TAGS: ["style", "form", "iframe", "img", "video", "audio", "source"],
    FORBID_ATTR: ["style", "id", "name"],
    ADD_ATTR: ["target"],
  });
}

export default function MarkdownText({ text, onLink }: MarkdownProps) {
  const html = useMemo(() => ({ __html: toHtml(text) }), [text]);
  const onClick = (event: MouseEvent) => {
    const { target } = event;
    if (!(target instanceof Element)) return;
    if (target.closest("[data-copy]")) {
      void copyText(target.closest("figure")?.querySelector("code")?.textContent ?? "", "Copied the code");
    }
    const href = target.closest("a")?.getAttribute("href");
    if (href !== undefined && href !== null && !/^[a-z]+:/i.test(href)) {
      event.preventDefault();
      onLink?.(href);
    }
  };
  // Keys reach the links and buttons inside, whose clicks are heard here.
  // eslint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/no-static-element-interactions
  return <div className="markdown" onClick={onClick} dangerouslySetInnerHTML={html} />;
}
