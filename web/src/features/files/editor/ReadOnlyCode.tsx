/** CodeMirror on a text that cannot be changed: a file of an earlier commit, or one that is too large to edit. */
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useRef } from "react";

import { languageOf } from "@/ui/code/languages";
import { asText, lineBreakOf } from "@/ui/code/lines";
import { inLanguage, plainSetup } from "./setup";

export interface ReadOnlyCodeProps {
  path: string;
  text: string;
  line?: number | undefined;
  /** Colours cost too much for very large texts. */
  plain?: boolean;
}

export default function ReadOnlyCode({ path, text, line, plain = false }: ReadOnlyCodeProps) {
  const parent = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (parent.current === null) return;
    const doc = asText(text, lineBreakOf(text));
    const view = new EditorView({ state: EditorState.create({ doc, extensions: plainSetup(path, text) }), parent: parent.current });
    let gone = false;
    if (!plain) void languageOf(path).then((found) => !gone && found !== null && view.dispatch({ effects: inLanguage(found) }));
    if (line !== undefined) {
      const at = doc.line(Math.max(1, Math.min(line, doc.lines))).from;
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
    }
    return () => {
      gone = true;
      view.destroy();
    };
  }, [path, text, line, plain]);
  return <div ref={parent} className="h-full min-h-0 overflow-hidden" />;
}
