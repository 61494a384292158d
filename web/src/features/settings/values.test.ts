import { expect, it } from "vitest";

import { ApiProblem } from "@/api";

import { asText, asValue, entryOf, shownValue } from "./values";
import { labelOf, originOf, sentence, told } from "./words";

const entry = (name: string, value: unknown) => entryOf({ name, value, origin: "default" });

it("an empty field means nothing where that is allowed", () => {
  expect(asValue(" ", entry("limits.turn_usd", 5))).toBeNull();
  expect(asValue("2.5", entry("limits.turn_usd", 5))).toBe(2.5);
  expect(asValue("", entry("polish.max_iterations", 50))).toBe("");
});

it("what is no number is left for the server to refuse", () => {
  expect(asValue("many", entry("polish.max_iterations", 50))).toBe("many");
});

it("a list is one line each, and a secret is never in the field", () => {
  const globs = entry("context.exclude", ["vendor/**", "*.min.js"]);
  expect(asText(globs)).toBe("vendor/**\n*.min.js");
  expect(asValue("a\n\n b ", globs)).toEqual(["a", "b"]);
  expect(asText(entry("notifications.channels.telegram.bot_token", "••••"))).toBe("");
});

it("a part of a plugin goes by its value", () => {
  expect(entry("connectors.wiki.enabled", false).kind.type).toBe("truth");
  expect(entry("connectors.wiki.api_token", "").kind.type).toBe("secret");
});

it("says where a value comes from, and whether the file decides", () => {
  expect(originOf("variable FORGE_MODEL")).toMatchObject({ word: "variable FORGE_MODEL", decided: true });
  expect(originOf("/home/ada/.config/forge/config.yaml").word).toBe("from config.yaml");
  expect(shownValue(null, "no limit")).toBe("no limit");
});

it("words are sentences", () => {
  expect(sentence("… and by at least this many findings …")).toBe("And by at least this many findings.");
  expect(labelOf("boards.vibekanban.enabled")).toBe("Enabled");
  const problem = new ApiProblem("settings_invalid", "/c.yaml: `a.b`: Input should be less.", "", 422);
  expect(told(problem, "a.b")).toBe("Input should be less.");
});
