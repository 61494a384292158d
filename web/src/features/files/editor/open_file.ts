/** An open file: what the editor holds, against what the branch has. Nothing of either is ever lost unseen. */
import { readDraft, writeDraft, type FilePlace } from "@/lib/unsaved";

import { readSince, writeSince } from "./since";

export interface Version {
  text: string;
  /** Empty: there is no such file on the branch. */
  etag: string;
  /** That has it at this path, where that is known. */
  commit?: string | undefined;
}

export interface FileStatus {
  dirty: boolean;
  /** What the branch has by now, while there is something unsaved here. */
  theirs: Version | null;
  /** The text as the person last knew it, if it was changed since by somebody else. */
  unseen: string | null;
}

export interface Attached {
  text: () => string;
  replace: (text: string) => void;
}

const WRITE_AFTER = 300;
/** Writing a megabyte is felt, so a large text waits for a pause; but not for ever. */
const LARGE = 100_000;
const PAUSE = 1_000;
const MOST_UNWRITTEN = 5_000;

export class OpenFile {
  base: Version;
  /** What an editor leaves here when it goes: history, selection, scroll position. */
  kept: unknown;
  /** The commit whose text the person last knew, if it was changed since; it is remembered as long as the window. */
  since: string | undefined;
  private loose: string;
  private attached: Attached | null = null;
  private status: FileStatus;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private telling: ReturnType<typeof setTimeout> | undefined;
  private unwritten = 0;
  private readonly listeners = new Set<() => void>();

  constructor(
    readonly place: FilePlace,
    found: Version,
  ) {
    const draft = readDraft(place);
    const dirty = draft !== undefined && draft.text !== found.text;
    const parted = dirty && draft.etag !== found.etag;
    this.base = parted ? { text: found.text, etag: draft.etag } : found;
    this.loose = dirty ? draft.text : found.text;
    this.status = { dirty, theirs: parted ? found : null, unseen: null };
    if (draft !== undefined && !dirty) writeDraft(place, undefined);
    this.since = readSince(place);
  }

  readonly snapshot = (): FileStatus => this.status;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  text(): string {
    return this.attached?.text() ?? this.loose;
  }

  attach(editor: Attached): () => void {
    this.attached = editor;
    return () => {
      this.loose = editor.text();
      this.attached = null;
      this.flush();
    };
  }

  /** The person typed. Whether it differs from the base is known to the editor, which compares quickly. */
  edited(dirty: boolean): void {
    const { theirs } = this.status;
    if (!dirty && theirs?.text === this.base.text) this.settle(theirs);
    else if (dirty !== this.status.dirty) this.becomeSoon({ ...this.status, dirty });
    if (!dirty) this.forget();
    else this.writeSoon();
  }

  /** What the branch has now. Without unsaved text it is shown; with it, it is kept beside. */
  take(found: Version): void {
    if (found.etag === this.base.etag) {
      if (this.status.theirs !== null) this.become({ ...this.status, theirs: null });
    } else if (this.text() === found.text) {
      this.settle(found);
    } else if (this.status.dirty) {
      this.become({ ...this.status, theirs: found });
    } else {
      // After a reload the known text is read anew: until then it is not what was shown last.
      const before = this.status.unseen ?? (this.since === undefined ? this.base.text : null);
      if (before === found.text) this.remember(undefined);
      else if (this.since === undefined) this.remember(this.base.commit);
      this.base = found;
      this.put(found.text);
      this.become({ dirty: false, theirs: null, unseen: before === found.text ? null : before });
    }
  }

  /** The text at `since`, read again; null: there is none any more. */
  recall(text: string | null): void {
    if (this.since === undefined || this.status.unseen !== null) return;
    if (text === null || text === this.base.text) this.remember(undefined);
    else this.become({ ...this.status, unseen: text });
  }

  /** `text` is on the branch; more may have been typed meanwhile. */
  saved({ text, ...at }: Version): void {
    this.base = { text, ...at };
    this.remember(undefined);
    const dirty = this.text() !== text;
    this.become({ dirty, theirs: null, unseen: null });
    if (dirty) this.write();
    else this.forget();
  }

  /** The next save goes over what was just seen of theirs. */
  keepMine(): void {
    if (this.status.theirs === null) return;
    this.base = this.status.theirs;
    this.become({ ...this.status, dirty: true, theirs: null });
    this.write();
  }

  takeTheirs(): void {
    const { theirs } = this.status;
    if (theirs === null) return;
    this.put(theirs.text);
    this.settle(theirs);
  }

  discard(): void {
    const back = this.status.theirs ?? this.base;
    this.put(back.text);
    this.settle(back);
  }

  seen(): void {
    this.remember(undefined);
    if (this.status.unseen !== null) this.become({ ...this.status, unseen: null });
  }

  flush(): void {
    if (this.timer !== undefined) this.write();
  }

  private remember(since: string | undefined): void {
    if (since === this.since) return;
    this.since = since;
    writeSince(this.place, since);
  }

  private settle(found: Version): void {
    this.base = found;
    this.become({ ...this.status, dirty: false, theirs: null });
    this.forget();
  }

  private put(text: string): void {
    this.loose = text;
    this.attached?.replace(text);
  }

  /** The first time at once, but not in the task of the keystroke itself. */
  private writeSoon(): void {
    const large = this.base.text.length > LARGE;
    const isFirst = readDraft(this.place) === undefined;
    const now = Date.now();
    if (this.timer === undefined) this.unwritten = now;
    else if (!large || isFirst || now - this.unwritten > MOST_UNWRITTEN) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.write(), isFirst ? 0 : large ? PAUSE : WRITE_AFTER);
  }

  private write(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.status.dirty) writeDraft(this.place, { text: this.text(), etag: this.base.etag });
  }

  private forget(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (readDraft(this.place) !== undefined) writeDraft(this.place, undefined);
  }

  /** True from now on; what is drawn follows after the keystroke. */
  private becomeSoon(next: FileStatus): void {
    this.status = next;
    this.telling ??= setTimeout(() => this.become(this.status), 0);
  }

  private become(next: FileStatus): void {
    clearTimeout(this.telling);
    this.telling = undefined;
    this.status = next;
    this.listeners.forEach((listener) => listener());
  }
}
