/** Reads the list of settings in docs/configuration.md, which is written from the settings' own schema. */

export type Kind =
  | { type: "text" | "directory" | "secret" | "lines" | "truth" | "other" }
  | { type: "number"; whole: boolean }
  | { type: "choice"; options: string[] };

export interface KnownSetting {
  name: string;
  about: string;
  /** As YAML writes it. */
  default: string;
  kind: Kind;
  /** Nothing is a value, too. */
  nullable: boolean;
}

export interface KnownSection {
  name: string;
  about: string;
  settings: KnownSetting[];
}

const ROW = /^\| `([^`]+)` \| `(.*?)` \|(?: (.*?) \| (.*?) \|)?$/;
const LONE = /^Default: `(.*?)`; (.*)\.$/;

export function known(document: string): KnownSection[] {
  const [, written = ""] = document.split(/<!-- From here on written by .* -->/);
  return written
    .split(/^## /m)
    .slice(1)
    .map((block) => {
      const [name = "", ...lines] = block.split("\n");
      const settings = lines.flatMap((line) => row(line) ?? lone(name, line) ?? []);
      return { name, about: prose(lines), settings };
    });
}

function row(line: string): KnownSetting | null {
  const found = ROW.exec(line);
  if (found === null) return null;
  const [, name = "", fallback = "", kind = "by name", about = ""] = found;
  return { name, about, default: fallback, ...kindOf(kind) };
}

function lone(name: string, line: string): KnownSetting | null {
  const found = LONE.exec(line);
  return found === null ? null : { name, about: "", default: found[1] ?? "", ...kindOf(found[2] ?? "") };
}

/** The sentences, without examples and tables. */
function prose(lines: string[]): string {
  return lines
    .filter((line) => line !== "" && !/^( {4}|\||Default: )/.test(line))
    .join(" ")
    .replace(/ For example:/g, "");
}

function kindOf(words: string): { kind: Kind; nullable: boolean } {
  const nullable = / or null$/.test(words);
  const kind = words.replace(/ or null$/, "");
  const options = [...kind.matchAll(/`([^`]+)`/g)].map((found) => found[1] ?? "");
  if (options.length > 0) return { kind: { type: "choice", options }, nullable };
  const types: Record<string, Kind> = {
    "whole number": { type: "number", whole: true },
    number: { type: "number", whole: false },
    "true or false": { type: "truth" },
    text: { type: "text" },
    "text, secret": { type: "secret" },
    directory: { type: "directory" },
    "list of text": { type: "lines" },
  };
  return { kind: types[kind] ?? { type: "other" }, nullable };
}
