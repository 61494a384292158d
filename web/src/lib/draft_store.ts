/** Drafts by name, in memory and in localStorage: other windows of the same person see them, and the next page does. */

export interface Draft {
  text: string;
  /** Of the content that it began from. */
  etag: string;
}

export class DraftStore {
  private readonly drafts = new Map<string, Draft>();
  private readonly listeners = new Set<() => void>();
  private names: readonly string[] = [];

  constructor(private readonly prefix: string) {
    if (typeof window === "undefined") return;
    for (let i = 0; i < localStorage.length; i++) this.take(localStorage.key(i));
    this.tell();
    window.addEventListener("storage", (event) => {
      if (this.take(event.key)) this.tell();
    });
  }

  get(name: string): Draft | undefined {
    return this.drafts.get(name);
  }

  set(name: string, draft: Draft | undefined): void {
    const before = this.drafts.has(name);
    if (draft === undefined) this.drafts.delete(name);
    else this.drafts.set(name, draft);
    this.write(name, draft);
    if (before !== (draft !== undefined)) this.tell();
  }

  /** The same array until a draft comes or goes. */
  readonly keys = (): readonly string[] => this.names;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private write(name: string, draft: Draft | undefined): void {
    try {
      if (draft === undefined) localStorage.removeItem(this.prefix + name);
      else localStorage.setItem(this.prefix + name, `${draft.etag}\n${draft.text}`);
    } catch (error) {
      if (!(error instanceof DOMException)) throw error; // full: it is kept as long as the page is
    }
  }

  /** Reads one again; whether it was one of ours. */
  private take(key: string | null): boolean {
    if (key?.startsWith(this.prefix) !== true) return false;
    const name = key.slice(this.prefix.length);
    const draft = parsed(localStorage.getItem(key));
    if (draft === undefined) this.drafts.delete(name);
    else this.drafts.set(name, draft);
    return true;
  }

  private tell(): void {
    this.names = [...this.drafts.keys()].sort();
    this.listeners.forEach((listener) => listener());
  }
}

/** The etag stands in the first line. Texts are long: they are kept as they are, which is quicker than as JSON. */
function parsed(kept: string | null): Draft | undefined {
  if (kept === null) return undefined;
  const end = kept.indexOf("\n");
  return end < 0 ? parsedOld(kept) : { etag: kept.slice(0, end), text: kept.slice(end + 1) };
}

/** As JSON, which is one line: nobody loses what was typed before an update. */
function parsedOld(kept: string): Draft | undefined {
  try {
    const given = JSON.parse(kept) as Partial<Draft> | null;
    return typeof given?.text === "string" && typeof given.etag === "string" ? { text: given.text, etag: given.etag } : undefined;
  } catch {
    return undefined; // written by another program
  }
}
