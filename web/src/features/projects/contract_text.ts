/** Words for contracts, and where a line of a text begins. */
import { plural } from "@/lib/format";
import type { Meaning } from "@/ui";

import type { ContractCard, ContractType } from "./contract_queries";

export const TITLES: Record<ContractType, string> = {
  manifesto: "Manifesto",
  blueprint: "Blueprint",
  stack: "Stack",
  schema: "Schema",
  physics: "Physics",
  boundaries: "Boundaries",
  ui: "UI",
  phases: "Phases",
  builder_directive: "Builder directive",
};

/** Null where nothing needs to be marked: there is no contract yet. */
export function stateOf(card: ContractCard): { meaning: Meaning; word: string } | null {
  switch (card.state) {
    case "missing":
      return null;
    case "valid":
      return { meaning: "good", word: "Valid" };
    case "draft":
      return { meaning: "attention", word: "Draft" };
    case "stale":
      return { meaning: "attention", word: "Stale" };
    case "findings":
      return { meaning: "bad", word: plural(card.findings, "finding") };
  }
}

/** Start and end of a line, counted from 1; of a line that is not there, the end of the text. */
export function lineRange(text: string, line: number): [number, number] {
  let start = 0;
  for (let at = 1; at < line; at += 1) {
    const end = text.indexOf("\n", start);
    if (end < 0) return [text.length, text.length];
    start = end + 1;
  }
  const end = text.indexOf("\n", start);
  return [start, end < 0 ? text.length : end];
}

/** As it is read, not written: the fields of a phase are lines of their own, and globs are not marks of bold text. */
export function readable(type: ContractType, text: string): string {
  if (type !== "phases") return text;
  return text.replace(/^(Objective|Depends on|Touches): *(.*)$/gm, (_, name: string, value: string) =>
    name === "Touches" ? `- **${name}:** \`${value}\`` : `- **${name}:** ${value}`,
  );
}
