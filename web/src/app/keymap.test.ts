import { expect, test, vi } from "vitest";

import { Commands } from "@/lib/commands";

import { keymap } from "./keymap";

const key = (name: string, more: KeyboardEventInit = {}) => new KeyboardEvent("keydown", { key: name, ...more });

function set() {
  const commands = new Commands();
  const run = vi.fn<(id: string) => void>();
  for (const [id, keys] of [["palette", "mod+k"], ["board", "g b"], ["help", "?"], ["new", "n"]] as const) {
    commands.add({ id, title: id, group: "x", keys, run: () => run(id) });
  }
  return { run, hear: keymap(commands) };
}

test("keys run their commands, one after the other too", () => {
  const { run, hear } = set();
  hear(key("k", { ctrlKey: true }));
  hear(key("g"));
  hear(key("b"));
  hear(key("?", { shiftKey: true }));
  expect(run.mock.calls.flat()).toEqual(["palette", "board", "help"]);
  expect(hear(key("b"))).toBe(false);
});

test("letters in a field are text, shortcuts with Ctrl still work there", () => {
  const { run, hear } = set();
  const field = document.createElement("input");
  document.body.append(field);
  field.addEventListener("keydown", hear);
  field.dispatchEvent(key("n"));
  field.dispatchEvent(key("k", { ctrlKey: true }));
  expect(run.mock.calls.flat()).toEqual(["palette"]);
});

test("in a dialog, single letters belong to it", () => {
  const { run, hear } = set();
  document.body.innerHTML = '<div role="dialog" data-state="open"></div>';
  hear(key("n"));
  document.body.innerHTML = "";
  hear(key("n"));
  expect(run.mock.calls.flat()).toEqual(["new"]);
});
