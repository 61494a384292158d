/** Runs commands by their keys: "mod+k" at once, "g b" one after the other within a second. */
import { useEffect } from "react";

import { useCommands, type Commands } from "@/lib/commands";
import { isText, pressed } from "@/lib/shortcuts";

const PATIENCE = 1000;

/** Exported for tests: hears key presses and says whether one was a shortcut. */
export function keymap(commands: Commands, now: () => number = Date.now): (event: KeyboardEvent) => boolean {
  let first = { key: "", until: 0 };
  return (event) => {
    if (event.defaultPrevented || event.isComposing || isText(event)) return false;
    const key = pressed(event);
    const pair = now() < first.until ? `${first.key} ${key}` : "";
    const list = commands.list();
    const found = list.find((each) => each.keys === pair) ?? list.find((each) => each.keys === key);
    const begins = found === undefined && list.some((each) => each.keys?.startsWith(`${key} `));
    first = begins ? { key, until: now() + PATIENCE } : { key: "", until: 0 };
    if (found === undefined || (inDialog() && !key.includes("mod"))) return false;
    found.run();
    return true;
  };
}

/** In a dialog, single letters belong to it. */
function inDialog(): boolean {
  return document.querySelector("[role=dialog][data-state=open]") !== null;
}

export function useKeymap(): void {
  const commands = useCommands();
  useEffect(() => {
    const hear = keymap(commands);
    const onKeyDown = (event: KeyboardEvent) => hear(event) && event.preventDefault();
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [commands]);
}
