/** What people give to read: which links are fetched, and which files cannot be taken. */
import { byteSize } from "@/lib/format";

export interface FoundLink {
  connector: "notion" | "google_drive";
  name: string;
  url: string;
}

const HOSTS: [RegExp, FoundLink["connector"], string][] = [
  [/^(?:[\w-]+\.)*notion\.(?:so|site)$/i, "notion", "Notion"],
  [/^(?:docs|drive)\.google\.com$/i, "google_drive", "Google Drive"],
];

/** Links in a text that a connector can fetch, each once. */
export function foundLinks(text: string): FoundLink[] {
  const found = new Map<string, FoundLink>();
  for (const [written] of text.matchAll(/https?:\/\/[^\s<>"]+/gi)) {
    const url = written.replace(/[.,;:!?)\]}'…]+$/, "");
    if (!URL.canParse(url)) continue;
    const host = HOSTS.find(([pattern]) => pattern.test(new URL(url).hostname));
    if (host) found.set(url, { connector: host[1], name: host[2], url });
  }
  return [...found.values()];
}

const UNREADABLE =
  /\.(zip|tar|gz|tgz|bz2|xz|7z|rar|jar|exe|dll|so|dylib|bin|iso|dmg|mp3|wav|ogg|flac|mp4|mov|avi|mkv|webm|doc|xlsx?|pptx?|odt|ods|odp|bmp|tiff?|heic|ico|psd|woff2?|ttf|otf|sqlite|db|pyc|class)$/i;

/** Why a file is not sent; undefined where it can be. */
export function fileRefusal(file: { name: string; size: number }, mostMegabytes: number): string | undefined {
  if (file.name.startsWith(".")) return "Hidden files are not taken. Send it under another name.";
  if (file.size === 0) return "The file is empty.";
  if (file.size > mostMegabytes * 1_000_000) return `It has ${byteSize(file.size)}; at most ${mostMegabytes} MB are taken.`;
  const type = UNREADABLE.exec(file.name)?.[1];
  if (type === undefined) return undefined;
  return `Files of type .${type.toLowerCase()} cannot be read. Text, code, PDF, DOCX and pictures can.`;
}
