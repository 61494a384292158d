/** CodeMirror for the text of a contract. Fetched when the first one is edited. */
import { acceptCompletion, autocompletion } from "@codemirror/autocomplete";
import { forEachDiagnostic, lintGutter, nextDiagnostic, previousDiagnostic, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { EditorSelection, EditorState, Prec, StateEffect, type Extension, type Text } from "@codemirror/state";
import { EditorView, keymap, type KeyBinding } from "@codemirror/view";
import { basicSetup } from "codemirror";
import { useEffect, useRef } from "react";

import { languageOf } from "@/ui/code/languages";
import { asText, lineBreakOf } from "@/ui/code/lines";
import { look } from "@/ui/code/look";

import type { Finding } from "../contract_queries";
import { completesFrom } from "./completion";
import type { Schema } from "./suggestions";

export interface CodeHandle {
  goTo: (line: number) => void;
}

export interface ContractCodeProps {
  label: string;
  /** Its ending names the language. */
  file: string;
  /** As it is at first; what is typed is told by `onText`. */
  text: string;
  findings?: readonly Finding[];
  /** What may stand where; null while it is not known, and where there is none. */
  schema?: Schema | null;
  /** Without it, the text can only be read. */
  onText?: (text: string) => void;
  onSave?: () => void;
  onReady?: (handle: CodeHandle | null) => void;
}

const KEYS: KeyBinding[] = [
  { key: "Tab", run: acceptCompletion },
  // Not for the page: there it leads to the notifications.
  { key: "F8", run: (view) => told(view, nextDiagnostic), shift: (view) => told(view, previousDiagnostic), stopPropagation: true },
];
const NO_FINDINGS: readonly Finding[] = [];

export default function ContractCode({ label, file, text, findings = NO_FINDINGS, schema = null, onText, onSave, onReady }: ContractCodeProps) {
  const parent = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const first = useRef(text);
  const now = useRef({ schema, onText, onSave, onReady });
  const readOnly = onText === undefined;
  useEffect(() => {
    now.current = { schema, onText, onSave, onReady };
  });
  useEffect(() => {
    if (parent.current === null) return;
    const format = file.endsWith(".json") ? "json" : "yaml";
    const completion = autocompletion({ override: file.endsWith(".md") ? [] : [completesFrom(() => now.current.schema, format)] });
    const doc = asText(first.current, lineBreakOf(first.current));
    const own: Extension = [
      completion,
      EditorState.lineSeparator.of(lineBreakOf(first.current)),
      EditorState.readOnly.of(readOnly),
      EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0", "aria-readonly": String(readOnly) }),
      EditorView.updateListener.of((update) => update.docChanged && now.current.onText?.(update.state.sliceDoc())),
      Prec.high(keymap.of([...KEYS, { key: "Mod-s", preventDefault: true, run: () => saved(now.current.onSave) }])),
    ];
    const made = new EditorView({ parent: parent.current, state: EditorState.create({ doc, extensions: [own, basicSetup, lintGutter(), look, EditorView.lineWrapping] }) });
    view.current = made;
    const { onReady: tell } = now.current;
    tell?.({ goTo: (line) => goTo(made, line) });
    let gone = false;
    void languageOf(file).then((found) => !gone && found !== null && made.dispatch({ effects: StateEffect.appendConfig.of(found) }));
    return () => {
      gone = true;
      view.current = null;
      tell?.(null);
      made.destroy();
    };
  }, [label, file, readOnly]);
  useEffect(() => {
    const { current } = view;
    if (current !== null) current.dispatch(setDiagnostics(current.state, marks(current.state.doc, findings)));
  }, [findings, label, file, readOnly]);
  return <div ref={parent} className="h-full min-h-0 overflow-hidden" />;
}

/** Goes to a finding, and lets screen readers say it. */
function told(view: EditorView, go: (view: EditorView) => boolean): boolean {
  if (!go(view)) return false;
  const { from: start } = view.state.selection.main;
  forEachDiagnostic(view.state, ({ message }, from) => from === start && view.dispatch({ effects: EditorView.announce.of(message) }));
  return true;
}

function saved(save: (() => void) | undefined): boolean {
  save?.();
  return true;
}

function goTo(view: EditorView, line: number): void {
  const { from, to } = lineOf(view.state.doc, line);
  view.dispatch({ selection: EditorSelection.single(from, to), effects: EditorView.scrollIntoView(from, { y: "center" }) });
  view.focus();
}

function marks(doc: Text, findings: readonly Finding[]): Diagnostic[] {
  return findings.map(({ line, message, hint }) => {
    const { from, to, text } = lineOf(doc, line);
    return { from: from + text.length - text.trimStart().length, to, severity: "error", message: `${message} ${hint}`.trim() };
  });
}

/** One that is not there is the last. */
function lineOf(doc: Text, line: number) {
  return doc.line(Math.max(1, Math.min(line, doc.lines)));
}
