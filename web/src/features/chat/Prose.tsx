import { memo, useDeferredValue } from "react";

import { Markdown } from "@/ui";

import { blocksOf, isHalfTable } from "./blocks";
import { CodeBlock } from "./CodeBlock";

export interface ProseProps {
  text: string;
  /** More is coming. */
  growing?: boolean;
  onLink?: ((href: string) => void) | undefined;
}

/** Markdown by blocks: those that are finished are not rendered again while the text grows. */
export const Prose = memo(function Prose({ text, growing = false, onLink }: ProseProps) {
  // Many pieces at once, as after a break, are drawn block by block between what the person does.
  const blocks = blocksOf(useDeferredValue(text));
  return (
    <div className="flex min-w-0 flex-col gap-2">
      {blocks.map((block, i) => {
        const last = growing && i === blocks.length - 1;
        if (block.kind === "code") {
          return <CodeBlock key={i} text={block.text} language={block.language} growing={last && !block.closed} />;
        }
        if (last && isHalfTable(block.text)) return null;
        return (
          <div key={i} className="max-w-[68ch]">
            <Markdown text={block.text} onLink={onLink} />
          </div>
        );
      })}
    </div>
  );
});
