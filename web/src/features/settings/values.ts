/** A setting as the server has it, joined with what is known about it; and what a person typed, as a value. */
import type { Setting } from "@/api";

import sections from "./known.json";
import type { Kind, KnownSection, KnownSetting } from "./reading";

export const SECTIONS = sections as KnownSection[];
const KNOWN = new Map(SECTIONS.flatMap((section) => section.settings).map((each) => [each.name, each]));
const HIDDEN = "••••";

export interface Entry extends Setting {
  about: string;
  /** Unknown where the documentation has none. */
  default?: unknown;
  kind: Kind;
  nullable: boolean;
}

export function entryOf(setting: Setting): Entry {
  const known = KNOWN.get(setting.name);
  if (known === undefined) return { ...setting, about: "", kind: guessed(setting), nullable: false };
  const value = parsedDefault(known);
  return { ...setting, about: known.about, kind: known.kind, nullable: known.nullable, ...(value !== undefined && { default: value }) };
}

/** Parts of plugins and channels: their kind shows in their value. */
function guessed({ name, value }: Setting): Kind {
  if (/(token|secret|password)$/.test(name) || value === HIDDEN) return { type: "secret" };
  if (typeof value === "boolean") return { type: "truth" };
  if (typeof value === "number") return { type: "number", whole: Number.isInteger(value) };
  return { type: typeof value === "string" ? "text" : "other" };
}

function parsedDefault({ default: written, kind }: KnownSetting): unknown {
  if (written === "null") return null;
  if (written === "''") return "";
  if (kind.type === "number") return Number(written);
  if (kind.type === "truth") return written === "true";
  if (kind.type === "lines") return written === "[]" ? [] : undefined;
  return kind.type === "other" ? undefined : written;
}

export function aboutSection(name: string): string {
  return SECTIONS.find((section) => section.name === name)?.about.replace(/\bnull\b/g, "empty") ?? "";
}

/** As it stands in the field. */
export function asText({ value, kind }: Pick<Entry, "value" | "kind">): string {
  if (value === null || value === undefined || (kind.type === "secret" && value === HIDDEN)) return "";
  if (Array.isArray(value)) return value.map(String).join("\n");
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What the field says, as the server takes it. Words that are no number go there as they are, and come back as a problem. */
export function asValue(text: string, { kind, nullable }: Pick<Entry, "kind" | "nullable">): unknown {
  const trimmed = text.trim();
  if (kind.type === "lines") return trimmed === "" ? [] : trimmed.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  if (trimmed === "") return nullable ? null : "";
  if (kind.type === "number") return Number.isNaN(Number(trimmed)) ? trimmed : Number(trimmed);
  return trimmed;
}

/** For people: "no limit" and the like come from `nothing`. */
export function shownValue(value: unknown, nothing: string): string {
  if (value === null) return nothing;
  if (value === "" || (Array.isArray(value) && value.length === 0)) return "nothing";
  if (typeof value === "boolean") return value ? "on" : "off";
  return Array.isArray(value) ? value.join(", ") : typeof value === "string" ? value : JSON.stringify(value);
}

export function isSet(entry: Pick<Entry, "value">): boolean {
  return entry.value === HIDDEN;
}

export function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
