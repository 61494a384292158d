/** How code looks: colours are tokens, so that the theme of the page is the theme of the editor. */
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

import "./code.css";

const colored = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword, tags.controlKeyword], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp, tags.character], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.literal], color: "var(--code-number)" },
  { tag: [tags.comment, tags.quote], color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.typeName, tags.className, tags.namespace, tags.tagName], color: "var(--code-type)" },
  { tag: [tags.function(tags.variableName), tags.function(tags.propertyName), tags.definition(tags.function(tags.variableName)), tags.macroName], color: "var(--code-function)" },
  { tag: [tags.propertyName, tags.attributeName, tags.labelName], color: "var(--code-name)" },
  { tag: [tags.meta, tags.processingInstruction, tags.annotation], color: "var(--code-number)" },
  { tag: tags.heading, color: "var(--code-keyword)", fontWeight: "600" },
  { tag: tags.strong, fontWeight: "600" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: [tags.link, tags.url], color: "var(--accent)", textDecoration: "underline" },
  { tag: tags.inserted, color: "var(--good)" },
  { tag: tags.deleted, color: "var(--bad)" },
  { tag: tags.invalid, color: "var(--bad)" },
]);

const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--surface-0)", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-mono, monospace)", lineHeight: "20px", overflow: "auto" },
  ".cm-content": { caretColor: "var(--text)", padding: "4px 0" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--surface-0)", color: "var(--muted)", border: "none" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "36px", padding: "0 8px 0 4px" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--surface-2) 45%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--accent) 26%, transparent)",
  },
  ".cm-selectionMatch": { backgroundColor: "color-mix(in srgb, var(--accent) 14%, transparent)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "transparent", outline: "1px solid var(--muted)" },
  ".cm-searchMatch": { backgroundColor: "color-mix(in srgb, var(--attention) 28%, transparent)" },
  ".cm-searchMatch-selected": { backgroundColor: "color-mix(in srgb, var(--attention) 55%, transparent)" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--surface-2)", border: "none", color: "var(--muted)", padding: "0 4px" },
});

export const look: Extension = [theme, syntaxHighlighting(colored)];
