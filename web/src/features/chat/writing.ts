/** What is being written in the composer: the word at the caret, mentions, names for new branches. */

export interface Wish {
  kind: "file" | "command";
  /** What was typed after the sign. */
  query: string;
  /** The state of the sign, and where the word ends. */
  from: number;
  to: number;
}

/** `@src/ap` anywhere, or `/fo` as the whole text. Null where nothing is being looked for. */
export function wishAt(text: string, caret: number): Wish | null {
  const before = text.slice(0, caret);
  const command = /^\/([a-z-]*)$/.exec(before);
  if (command && text.trim() === before) return { kind: "command", query: command[1] ?? "", from: 0, to: caret };
  const file = /(?:^|[\s(])@([^\s@]*)$/.exec(before);
  if (file === null) return null;
  const query = file[1] ?? "";
  return { kind: "file", query, from: caret - query.length - 1, to: caret };
}

/** The text with a path in the place of what was typed, and where the caret goes. */
export function withMention(text: string, wish: Wish, path: string): { text: string; caret: number } {
  const said = `@${path}`;
  const rest = text.slice(wish.to);
  const space = rest.startsWith(" ") ? "" : " ";
  return { text: text.slice(0, wish.from) + said + space + rest, caret: wish.from + said.length + 1 };
}

/** Paths that are mentioned and are there. */
export function mentionsIn(text: string, paths: ReadonlySet<string>): string[] {
  const found = [...text.matchAll(/(?:^|[\s(])@([^\s@]+)/g)].map((match) => match[1] ?? "");
  const known = found.map((path) => (paths.has(path) ? path : path.replace(/[.,;:)!?]+$/, "")));
  return [...new Set(known)].filter((path) => paths.has(path));
}

/** "Fix the login page, please" → "ai/fix-the-login-page". */
export function branchFor(text: string, taken: ReadonlySet<string>): string {
  const plain = text.toLowerCase().normalize("NFKD").replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
  const short = plain.split("-").slice(0, 4).join("-").slice(0, 40);
  return free(`ai/${short === "" ? "chat" : short}`, taken);
}

/** The name itself, or with the next number: "ai/first" → "ai/first-2" → "ai/first-3". */
export function free(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  const [, stem = name, number] = /^(.*?)(?:-(\d+))?$/.exec(name) ?? [];
  for (let next = Number(number ?? 1) + 1; ; next++) {
    if (!taken.has(`${stem}-${next}`)) return `${stem}-${next}`;
  }
}
