/** Shortcuts are written like "mod+shift+f" (mod: Cmd on a Mac, else Ctrl), "?", "escape", or "g b" for one after the other. */

export const IS_MAC = typeof navigator !== "undefined" && /Mac|iPhone|iPad/.test(navigator.userAgent);
const SHOWN: Record<string, string> = {
  mod: IS_MAC ? "⌘" : "Ctrl",
  shift: IS_MAC ? "⇧" : "Shift",
  alt: IS_MAC ? "⌥" : "Alt",
  escape: "Esc",
  enter: "Enter",
  arrowup: "↑",
  arrowdown: "↓",
  arrowleft: "←",
  arrowright: "→",
  pageup: "PgUp",
  pagedown: "PgDn",
  delete: "Del",
  backspace: "⌫",
  space: "Space",
};

/** The keys as they are printed on a keyboard: ["Ctrl", "K"]. */
export function shownKeys(keys: string): string[] {
  return keys.split(/[+ ]/).map((key) => SHOWN[key] ?? (key.length === 1 ? key.toUpperCase() : key));
}

/** "mod+shift+f" for what was pressed; shift is left out where it only makes another character, as in "?". */
export function pressed(event: KeyboardEvent): string {
  const key = event.key === " " ? "space" : event.key.toLowerCase();
  const named = key.length > 1 || /[a-z0-9]/.test(key);
  const parts = [
    (IS_MAC ? event.metaKey : event.ctrlKey) && "mod",
    event.altKey && "alt",
    event.shiftKey && named && "shift",
    key,
  ];
  return parts.filter((part) => part !== false).join("+");
}

/** While somebody writes, plain letters are text. Shortcuts with mod, and function keys, still work. */
export function isText(event: KeyboardEvent): boolean {
  const { target } = event;
  const writing =
    target instanceof HTMLElement &&
    (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));
  return writing && !event.ctrlKey && !event.metaKey && !event.altKey && !/^(F\d+|Escape)$/.test(event.key);
}
