/** Two texts compared with CodeMirror, side by side or as one. Fetched when the first comparison is shown. */
import { MergeView, unifiedMergeView } from "@codemirror/merge";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";
import { useEffect, useRef } from "react";

import { languageOf } from "@/ui/code/languages";
import { asText, lineBreakOf } from "@/ui/code/lines";
import { look } from "@/ui/code/look";

export interface CodeDiffProps {
  path: string;
  before: string;
  after: string;
  layout: "unified" | "split";
  /** Names of the sides, for screen readers. */
  labels?: [string, string];
}

const COLLAPSED = { margin: 3, minSize: 6 };
const DIFF = { scanLimit: 2000, timeout: 200 };

function extensions(text: string, label: string, language: Extension): Extension[] {
  return [
    EditorState.lineSeparator.of(lineBreakOf(text)),
    lineNumbers(),
    EditorView.lineWrapping,
    look,
    language,
    EditorState.readOnly.of(true),
    EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": "true", tabindex: "0" }),
  ];
}

function shown({ path, before, after, layout, labels = ["before", "after"] }: CodeDiffProps, language: Extension, parent: HTMLElement): { destroy: () => void } {
  const [a, b] = [before, after].map((text) => asText(text, lineBreakOf(text)));
  if (a === undefined || b === undefined) throw new Error("two texts are compared");
  const [left, right] = labels.map((label) => `${path}, ${label}`);
  if (layout === "split") {
    return new MergeView({
      a: { doc: a, extensions: extensions(before, left ?? path, language) },
      b: { doc: b, extensions: extensions(after, right ?? path, language) },
      parent,
      collapseUnchanged: COLLAPSED,
      diffConfig: DIFF,
    });
  }
  const merge = unifiedMergeView({ original: a, mergeControls: false, collapseUnchanged: COLLAPSED, diffConfig: DIFF });
  return new EditorView({ state: EditorState.create({ doc: b, extensions: [extensions(after, `${path}, differences`, language), merge] }), parent });
}

export default function CodeDiff(props: CodeDiffProps) {
  const parent = useRef<HTMLDivElement>(null);
  const { path, before, after, layout, labels } = props;
  const [left, right] = labels ?? ["before", "after"];
  useEffect(() => {
    let view: { destroy: () => void } | undefined;
    let gone = false;
    void languageOf(path).then((language) => {
      if (gone || parent.current === null) return;
      view = shown({ path, before, after, layout, labels: [left, right] }, language ?? [], parent.current);
    });
    return () => {
      gone = true;
      view?.destroy();
    };
  }, [path, before, after, layout, left, right]);
  return <div ref={parent} className="h-full min-h-0 overflow-auto" />;
}
