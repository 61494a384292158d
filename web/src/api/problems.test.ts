import { expect, test } from "vitest";

import { forPeople, problemOf } from "./problems";

test("hints for programs are not shown to people", () => {
  expect(forPeople("GET …/branches lists them.")).toBe("");
  expect(forPeople("Send `confirmed: true` if it is meant.")).toBe("");
  expect(forPeople("Wait for the seconds that `Retry-After` names.")).toBe("");
  expect(forPeople("Read it again and make your change there.")).toBe("Read it again and make your change there.");
});

test("an answer that is no problem is told by its status", () => {
  const told = problemOf(null, new Response(null, { status: 502 }));
  expect([told.code, told.detail, told.hint, told.status]).toEqual(["unexpected", "The server answered with 502.", "", 502]);
});
