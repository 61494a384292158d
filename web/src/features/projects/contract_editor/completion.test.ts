import { readFileSync } from "node:fs";

import { describe, expect, it, test } from "vitest";

import { written } from "./completion";
import { placeAt, type Format } from "./place";
import { suggestions, type Schema } from "./suggestions";

const schemaOf = (kind: string) => JSON.parse(readFileSync(`${import.meta.dirname}/../../../../../src/forge/contracts/schemas/${kind}.json`, "utf8")) as Schema;
const PHYSICS = schemaOf("physics");
const BOUNDARIES = schemaOf("boundaries");

/** `|` is the cursor. */
function offered(marked: string, schema: Schema, format: Format): string[] | null {
  const at = marked.indexOf("|");
  const place = placeAt(marked.slice(0, at) + marked.slice(at + 1), at, format);
  return place === null ? null : suggestions(schema, place).map(({ label, isRequired }) => (isRequired ? `${label}!` : label));
}

const yaml = (marked: string) => offered(marked, PHYSICS, "yaml");
const json = (marked: string) => offered(marked, BOUNDARIES, "json");

describe("YAML: what is allowed at the cursor", () => {
  const METHODS = ["parameters", "get", "put", "post", "delete", "patch", "head", "options"];
  const OPERATION = ["operationId!", "responses!", "summary", "description", "tags", "security", "parameters", "requestBody"];
  const HEAD = "openapi: 3.1.0\npaths:\n  /tasks:\n";

  test.each([
    ["the top, needed ones first", "|", ["openapi!", "info!", "paths!", "security", "components"]],
    ["without what is there, before and after", "openapi: 3.1.0\n|\npaths:\n  /tasks: {}\n", ["info!", "security", "components"]],
    ["below a key", "info:\n  |", ["title!", "version!", "description"]],
    ["a half written key", "info:\n  title: A\n  ver|", ["version!", "description"]],
    ["a path that nobody named in the schema", `${HEAD}    |`, METHODS],
    ["through a reference", `${HEAD}    get:\n      operationId: listTasks\n      |\n    post:\n      summary: x\n`, OPERATION.filter((name) => name !== "operationId!")],
    ["back out of a deeper one", `${HEAD}    get:\n      responses:\n        "200":\n          description: x\n      |`, OPERATION.filter((name) => name !== "responses!")],
    ["an answer by its code", `${HEAD}    get:\n      responses:\n        "200":\n          |`, ["description!", "headers", "content"]],
    ["an item of a list", `${HEAD}    parameters:\n      - |`, ["name!", "in!", "schema!", "required", "description"]],
    ["the second key of the second item", `${HEAD}    parameters:\n      - name: a\n        in: path\n      - name: b\n        |`, ["in!", "schema!", "required", "description"]],
    ["a list as deep as its key", `${HEAD}    parameters:\n    - name: b\n      |`, ["in!", "schema!", "required", "description"]],
    ["words of a fixed choice", `${HEAD}    parameters:\n      - in: |`, ["query", "path", "header", "cookie"]],
    ["true and false", `${HEAD}    parameters:\n      - required: t|`, ["true", "false"]],
    ["braces in one line", `${HEAD}    parameters:\n      - {name: id, |}`, ["in!", "schema!", "required", "description"]],
    ["braces after a key", "info: {title: A, |}", ["version!", "description"]],
    ["what follows braces", "info: {title: A,\n  version: 1}\n|", ["openapi!", "paths!", "security", "components"]],
    ["what follows a long text", "info:\n  description: |\n    paths: no\n    in: |\n", null],
  ])("%s", (_, marked, found) => {
    // The long text has a `|` of its own: the cursor is the last one.
    const at = marked.lastIndexOf("|");
    const text = marked.slice(0, at) + marked.slice(at + 1);
    const place = placeAt(text, at, "yaml");
    expect(place === null ? null : suggestions(PHYSICS, place).map(({ label, isRequired }) => (isRequired ? `${label}!` : label))).toEqual(found);
  });

  it("goes on after a text of many lines, and says nothing in comments", () => {
    expect(yaml("# op|")).toBeNull();
    const text = "info:\n  description: >\n    first:\n      second\n  ";
    const place = placeAt(text, text.length, "yaml");
    expect(place).toMatchObject({ path: ["info"], present: ["description"], column: 2 });
  });

  it("knows nothing below what the schema leaves open", () => {
    expect(yaml("components:\n  schemas:\n    Task:\n      type: |")).toEqual([]);
  });
});

describe("JSON: what is allowed at the cursor", () => {
  test.each([
    ["the top", '{"|"}', ["layers!", "allowed!", "forbidden!", "invariants"]],
    ["without a quote, half written", '{\n  "layers": [],\n  al|', ["allowed!", "forbidden!", "invariants"]],
    ["without what follows", '{"|", "allowed": [], "forbidden": [{"import": "x"}]}', ["layers!", "invariants"]],
    ["an item", '{"layers": [{"name": "api", "paths": ["a"]}, {"na|"}]}', ["name!", "paths!", "description"]],
    ["an item with names", '{"forbidden": [{"layer": "api", "|": "os"}]}', ["import!", "reason!"]],
    ["after a name", '{"layers" |', null],
    ["after a value", '{"layers": [] |', null],
    ["after the end", '{"layers": []} |', null],
    ["in a text", '{"invariants": ["a: {|"]}', []],
  ])("%s", (_, marked, found) => expect(json(marked)).toEqual(found));

  it("tells what is typed and where it begins", () => {
    expect(placeAt('{"layers": [{"na"}]}', 16, "json")).toMatchObject({ path: ["layers", 0], slot: "key", typed: "na", from: 14 });
  });
});

describe("how it is written", () => {
  const inYaml = { path: [], slot: "key", typed: "", from: 0, present: [], quoted: false, column: 2 } as const;
  const inJson = { ...inYaml, quoted: true, column: null };
  const key = { label: "paths", slot: "key", isRequired: true, description: "" } as const;

  it("opens what the value begins with", () => {
    expect(written({ ...key, kind: "object" }, inYaml, false)).toEqual({ before: "paths:\n    ", after: "" });
    expect(written({ ...key, kind: "array" }, inYaml, false)).toEqual({ before: "paths:\n    - ", after: "" });
    expect(written({ ...key, kind: "text" }, inYaml, false)).toEqual({ before: "paths: ", after: "" });
    expect(written({ ...key, kind: "array" }, inJson, false)).toEqual({ before: '"paths": [', after: "]" });
    expect(written({ ...key, kind: "array" }, inJson, true)).toEqual({ before: '"paths"', after: "" });
  });

  it("quotes words in JSON only", () => {
    const value = { ...key, slot: "value", label: "query" } as const;
    expect(written({ ...value, kind: "text" }, inJson, false).before).toBe('"query"');
    expect(written({ ...value, kind: "text" }, inYaml, false).before).toBe("query");
    expect(written({ ...value, kind: "other", label: "true" }, inJson, false).before).toBe("true");
  });
});

it("says what a key is for", () => {
  const found = suggestions(BOUNDARIES, { path: [], slot: "key", typed: "", from: 0, present: [], quoted: true, column: null });
  expect(found.find(({ label }) => label === "allowed")?.description).toContain("what is not listed is not allowed");
  expect(found.every(({ description }) => description !== "")).toBe(true);
});
