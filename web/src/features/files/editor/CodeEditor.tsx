/** CodeMirror on an open file. Fetched when the first file is opened. */
import { EditorSelection, type EditorState, type StateEffect } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useRef, useSyncExternalStore } from "react";

import { languageOf } from "@/ui/code/languages";
import { asText, difference } from "@/ui/code/lines";
import type { OpenFile } from "./open_file";
import { setKnown } from "./seen_gutter";
import { fileState, fromBranch, inLanguage, switched } from "./setup";

interface Kept {
  state: EditorState;
  scroll: StateEffect<unknown>;
}

export interface CodeEditorProps {
  file: OpenFile;
  readOnly: boolean;
  wrap: boolean;
  tabIndents: boolean;
  line?: number | undefined;
  onView: (view: EditorView | null) => void;
}

function replace(view: EditorView, text: string): void {
  const change = difference(view.state.doc, asText(text, view.state.lineBreak));
  if (change !== null) view.dispatch({ changes: change, annotations: fromBranch.of(true) });
}

function goTo(view: EditorView, line: number): void {
  const { from } = view.state.doc.line(Math.max(1, Math.min(line, view.state.doc.lines)));
  view.dispatch({ selection: EditorSelection.cursor(from), effects: EditorView.scrollIntoView(from, { y: "center" }) });
  view.focus();
}

function opened(file: OpenFile, parent: HTMLElement): EditorView {
  const kept = file.kept as Kept | undefined;
  const view = new EditorView({ state: kept?.state ?? fileState(file), parent, ...(kept && { scrollTo: kept.scroll as StateEffect<never> }) });
  replace(view, file.text());
  return view;
}

export default function CodeEditor({ file, readOnly, wrap, tabIndents, line, onView }: CodeEditorProps) {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const { unseen } = useSyncExternalStore(file.subscribe, file.snapshot);
  const { etag } = file.base;

  useEffect(() => {
    if (parent.current === null) return;
    const made = opened(file, parent.current);
    view.current = made;
    onView(made);
    const detach = file.attach({ text: () => made.state.sliceDoc(), replace: (text) => replace(made, text) });
    let gone = false;
    void languageOf(file.place.path).then((found) => !gone && found !== null && made.dispatch({ effects: inLanguage(found) }));
    return () => {
      gone = true;
      file.kept = { state: made.state, scroll: made.scrollSnapshot() } satisfies Kept;
      detach();
      view.current = null;
      onView(null);
      made.destroy();
    };
  }, [file, onView]);

  useEffect(() => view.current?.dispatch({ effects: switched({ readOnly, wrap, tabIndents }) }), [file, readOnly, wrap, tabIndents]);

  useEffect(() => {
    if (view.current !== null && line !== undefined) goTo(view.current, line);
  }, [file, line]);

  useEffect(() => {
    const { current } = view;
    if (current === null) return;
    current.dispatch({ effects: setKnown.of(unseen === null ? null : asText(unseen, current.state.lineBreak)) });
    // `etag`: the branch has another text again, so other lines differ from the known one.
  }, [file, unseen, etag]);

  return <div ref={parent} className="h-full min-h-0 overflow-hidden" />;
}
