import { readFileSync } from "node:fs";
import path from "node:path";

import { expect, it } from "vitest";

import { known } from "./reading";

const DOCUMENT = readFileSync(path.resolve(process.cwd(), "../docs/configuration.md"), "utf8");

it("knows the settings as the documentation lists them (npx vitest run src/features/settings -u writes them anew)", async () => {
  await expect(`${JSON.stringify(known(DOCUMENT), null, 1)}\n`).toMatchFileSnapshot("./known.json");
});

it("takes kinds and defaults from the table", () => {
  const settings = known(DOCUMENT).flatMap((section) => section.settings);
  const of = (name: string) => settings.find((each) => each.name === name);
  expect(of("limits.output_tokens")).toMatchObject({ default: "null", nullable: true, kind: { type: "number", whole: true } });
  expect(of("sessions")).toMatchObject({ default: "tree", kind: { type: "choice", options: ["tree", "side-ref"] } });
  expect(of("database")).toMatchObject({ kind: { type: "secret" }, nullable: true });
  expect(of("context.exclude")).toMatchObject({ kind: { type: "lines" } });
});
