/** What every editor has, and the parts that are switched while it runs. */
import { indentWithTab } from "@codemirror/commands";
import { gotoLine } from "@codemirror/search";
import { Annotation, Compartment, EditorState, type Extension, type Text } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { basicSetup } from "codemirror";

import { asText, lineBreakOf } from "@/ui/code/lines";
import { look } from "@/ui/code/look";
import type { OpenFile, Version } from "./open_file";
import { seenGutter } from "./seen_gutter";

/** The change came from the branch, not from the person. */
export const fromBranch = Annotation.define<boolean>();

const readOnly = new Compartment();
const language = new Compartment();
const wrapping = new Compartment();
const tabKey = new Compartment();

export interface Switches {
  readOnly: boolean;
  wrap: boolean;
  tabIndents: boolean;
}

export function switched({ readOnly: locked, wrap, tabIndents }: Switches) {
  return [
    readOnly.reconfigure(EditorState.readOnly.of(locked)),
    wrapping.reconfigure(wrap ? EditorView.lineWrapping : []),
    tabKey.reconfigure(tabIndents ? keymap.of([indentWithTab]) : []),
  ];
}

export function inLanguage(found: Extension) {
  return language.reconfigure(found);
}

const bases = new WeakMap<Version, Text>();

function baseDoc(base: Version, lineBreak: string): Text {
  const doc = bases.get(base) ?? asText(base.text, lineBreak);
  bases.set(base, doc);
  return doc;
}

function differs(file: OpenFile, state: EditorState): boolean {
  const base = baseDoc(file.base, state.lineBreak);
  return base.length !== state.doc.length || !base.eq(state.doc);
}

const WORDS = EditorState.phrases.of({
  next: "Next",
  previous: "Previous",
  all: "Select all",
  "match case": "Match case",
  regexp: "Regular expression",
  "by word": "Whole words",
  replace: "Replace",
  "replace all": "Replace all",
  go: "Go",
});

export function plainSetup(path: string, text: string): Extension[] {
  return [
    EditorState.lineSeparator.of(lineBreakOf(text)),
    keymap.of([{ key: "Mod-g", run: gotoLine }]),
    basicSetup,
    WORDS,
    look,
    language.of([]),
    wrapping.of([]),
    tabKey.of([]),
    readOnly.of(EditorState.readOnly.of(true)),
    EditorView.contentAttributes.of({ "aria-label": `Text of ${path}`, tabindex: "0" }),
  ];
}

/** Reports to the file, never to a component: the state outlives those. */
export function fileState(file: OpenFile): EditorState {
  const text = file.text();
  const doc = asText(text, lineBreakOf(text));
  // To be compared with at the first keystroke, when there is no time to make it.
  if (text === file.base.text) bases.set(file.base, doc);
  return EditorState.create({
    doc,
    extensions: [
      plainSetup(file.place.path, text),
      seenGutter,
      EditorView.updateListener.of((update) => {
        const theirs = update.transactions.some((each) => each.annotation(fromBranch) === true);
        if (update.docChanged && !theirs) file.edited(differs(file, update.state));
      }),
    ],
  });
}
