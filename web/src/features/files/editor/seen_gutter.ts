/** A gutter that marks what changed since the person last knew the file. */
import { Chunk } from "@codemirror/merge";
import { RangeSet, StateEffect, StateField, type Extension, type Text } from "@codemirror/state";
import { gutter, GutterMarker, type EditorView } from "@codemirror/view";

class Mark extends GutterMarker {
  constructor(private readonly kind: "changed" | "removed") {
    super();
  }

  override eq(other: Mark): boolean {
    return other.kind === this.kind;
  }

  override toDOM(): HTMLElement {
    const dom = document.createElement("div");
    dom.className = `cm-seen-${this.kind}`;
    dom.title = this.kind === "changed" ? "Changed since you opened the file" : "Lines were removed here";
    return dom;
  }
}

const CHANGED = new Mark("changed");
const REMOVED = new Mark("removed");
const NONE = RangeSet.empty as RangeSet<GutterMarker>;
const DIFF = { scanLimit: 500, timeout: 40 };

/** The text as it was known; null: all has been seen. */
export const setKnown = StateEffect.define<Text | null>();

function marks(known: Text, now: Text): RangeSet<GutterMarker> {
  const found: { from: number; to: number; value: Mark }[] = [];
  for (const chunk of Chunk.build(known, now, DIFF)) {
    if (chunk.fromB === chunk.toB) {
      const from = now.lineAt(Math.min(chunk.fromB, now.length)).from;
      found.push({ from, to: from, value: REMOVED });
      continue;
    }
    for (let at = chunk.fromB; at <= chunk.endB; ) {
      const line = now.lineAt(at);
      found.push({ from: line.from, to: line.from, value: CHANGED });
      at = line.to + 1;
    }
  }
  return RangeSet.of(found.map(({ value, from }) => value.range(from)), true);
}

const field = StateField.define<RangeSet<GutterMarker>>({
  create: () => NONE,
  update(value, transaction) {
    let next = transaction.docChanged ? value.map(transaction.changes) : value;
    for (const effect of transaction.effects) {
      if (effect.is(setKnown)) next = effect.value === null ? NONE : marks(effect.value, transaction.newDoc);
    }
    return next;
  },
});

/** Where the marked lines begin, in order. */
export function changedPlaces(view: EditorView): number[] {
  const places: number[] = [];
  view.state.field(field, false)?.between(0, view.state.doc.length, (from) => void places.push(from));
  return places;
}

export const seenGutter: Extension = [
  field,
  gutter({ class: "cm-seen-gutter", markers: (view) => view.state.field(field) }),
];
