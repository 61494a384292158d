/** Looking for a setting by any of its words. */
import type { Prompt } from "@/api";

import { ALL, sectionOf, type Section } from "./sections";
import { SECTIONS } from "./values";
import { labelOf, sentence } from "./words";

export interface Found {
  section: Section;
  title: string;
  about: string;
  /** The setting or prompt within the section. */
  hash: string | undefined;
}

const SETTINGS: Found[] = SECTIONS.flatMap(({ settings }) => settings).flatMap(({ name, about }) => {
  const section = sectionOf(name);
  return section === undefined ? [] : [{ section, title: labelOf(name), about: sentence(about) || name, hash: name }];
});

/** Sections first, then settings and prompts that have all the words. */
export function found(query: string, prompts: readonly Pick<Prompt, "name">[]): Found[] {
  const words = query.toLowerCase().split(/\s+/).filter((word) => word !== "");
  if (words.length === 0) return [];
  const has = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  const section = ALL.find((each) => each.id === "prompts");
  return [
    ...ALL.filter((each) => has(`${each.title} ${each.about} ${each.words}`)).map((each) => ({ section: each, title: each.title, about: each.about, hash: undefined })),
    ...SETTINGS.filter((each) => has(`${each.title} ${each.about} ${each.hash ?? ""} ${each.section.title}`)),
    ...(section === undefined ? [] : prompts.filter(({ name }) => has(`${name} prompt`)).map(({ name }) => ({ section, title: name, about: "Prompt", hash: name }))),
  ];
}
