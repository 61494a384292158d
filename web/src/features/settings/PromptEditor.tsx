/** CodeMirror for a prompt. Fetched when the first one is opened. */
import { markdown } from "@codemirror/lang-markdown";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { minimalSetup } from "codemirror";
import { useEffect, useRef } from "react";

const look = [
  EditorView.theme({
    "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--surface-0)", fontSize: "13px" },
    "&.cm-focused": { outline: "none" },
    ".cm-scroller": { fontFamily: "var(--font-mono, monospace)", lineHeight: "20px" },
    ".cm-content": { caretColor: "var(--text)", padding: "8px 12px" },
    ".cm-cursor": { borderLeftColor: "var(--text)" },
    "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { background: "color-mix(in srgb, var(--accent) 26%, transparent)" },
  }),
  syntaxHighlighting(
    HighlightStyle.define([
      { tag: tags.heading, color: "var(--accent)", fontWeight: "600" },
      { tag: tags.strong, fontWeight: "600" },
      { tag: tags.emphasis, fontStyle: "italic" },
      { tag: [tags.monospace, tags.link, tags.url], color: "var(--running)" },
      { tag: [tags.quote, tags.comment, tags.processingInstruction], color: "var(--muted)" },
    ]),
  ),
];

export interface PromptEditorProps {
  label: string;
  text: string;
  /** Without it, the text can only be read. */
  onText: ((text: string) => void) | undefined;
}

export default function PromptEditor({ label, text, onText }: PromptEditorProps) {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const told = useRef(onText);
  const shown = useRef(text);
  const readOnly = onText === undefined;
  useEffect(() => {
    told.current = onText;
    shown.current = text;
  });
  useEffect(() => {
    if (parent.current === null) return;
    const made = new EditorView({
      parent: parent.current,
      state: EditorState.create({
        doc: shown.current,
        extensions: [
          minimalSetup,
          markdown(),
          look,
          EditorView.lineWrapping,
          EditorState.readOnly.of(readOnly),
          EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
          EditorView.updateListener.of((update) => update.docChanged && told.current?.(update.state.sliceDoc())),
        ],
      }),
    });
    view.current = made;
    return () => made.destroy();
  }, [label, readOnly]);
  useEffect(() => {
    const { current } = view;
    if (current === null || current.state.sliceDoc() === text) return;
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: text } });
  }, [text]);
  return <div ref={parent} className="h-full min-h-0" />;
}
