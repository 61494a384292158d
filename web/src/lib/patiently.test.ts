import { expect, test } from "vitest";

import { patiently } from "./patiently";

test("a part that could not be loaded is asked for until it comes", async () => {
  let asked = 0;
  const load = () => (++asked < 3 ? Promise.reject(new Error("away")) : Promise.resolve("here"));
  expect(await patiently(load, 1)).toBe("here");
  expect(asked).toBe(3);
});
