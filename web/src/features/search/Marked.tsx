import type { ReactNode } from "react";

/** A text with some of its characters marked. */
export function MarkedLetters({ text, at }: { text: string; at: readonly number[] }) {
  const marked = new Set(at);
  const parts: ReactNode[] = [];
  for (let i = 0; i < text.length; ) {
    const is = marked.has(i);
    let end = i + 1;
    while (end < text.length && marked.has(end) === is) end++;
    parts.push(is ? <b key={i} className="font-semibold text-accent">{text.slice(i, end)}</b> : text.slice(i, end));
    i = end;
  }
  return <>{parts}</>;
}

/** A line with stretches of it marked. */
export function MarkedSpans({ text, spans }: { text: string; spans: readonly (readonly [number, number])[] }) {
  const parts: ReactNode[] = [];
  let from = 0;
  for (const [start, end] of spans) {
    parts.push(text.slice(from, start), <mark key={start} className="rounded-sm bg-[color-mix(in_srgb,var(--attention)_30%,transparent)] text-text">{text.slice(start, end)}</mark>);
    from = end;
  }
  return (
    <>
      {parts}
      {text.slice(from)}
    </>
  );
}
