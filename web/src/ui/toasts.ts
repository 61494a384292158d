/** Short messages at the lower edge, from anywhere: `toast({ text: "Branch deleted", action: {…} })`. */

export interface ToastMessage {
  text: string;
  meaning?: "good" | "bad" | "attention";
  /** One thing to do about it, such as Undo. The message then stays for ten seconds. */
  action?: { label: string; run: () => void };
  /** Stays for half a minute: there is something to read and to do. */
  lasting?: boolean;
}

export interface ShownToast extends ToastMessage {
  id: number;
}

let shown: readonly ShownToast[] = [];
let last = 0;
const listeners = new Set<() => void>();

function set(next: readonly ShownToast[]): void {
  shown = next;
  listeners.forEach((listener) => listener());
}

export function toast(message: ToastMessage): void {
  last += 1;
  set([...shown.slice(-2), { ...message, id: last }]);
}

export function dismissToast(id: number): void {
  set(shown.filter((each) => each.id !== id));
}

export function shownToasts(): readonly ShownToast[] {
  return shown;
}

export function onToasts(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
