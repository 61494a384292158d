/** Words for contracts, and their text as it is read. */
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

/** As it is read, not written: the fields of a phase are lines of their own, and globs are not marks of bold text. */
export function readable(type: ContractType, text: string): string {
  if (type !== "phases") return text;
  return text.replace(/^(Objective|Depends on|Touches): *(.*)$/gm, (_, name: string, value: string) =>
    name === "Touches" ? `- **${name}:** \`${value}\`` : `- **${name}:** ${value}`,
  );
}
