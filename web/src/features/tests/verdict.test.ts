import { describe, expect, it } from "vitest";

import { countsOf, timeOf, verdictOf } from "./verdict";

const run = { outcome: "passed" as const, passed: 3, failed: 0, skipped: 0, flaky: [] as string[] };

describe("a test run in words", () => {
  it("tells a flaky test although the run passes", () => {
    expect(verdictOf(run)).toEqual({ text: "3 tests passed", meaning: "good" });
    expect(verdictOf({ ...run, flaky: ["a"] })).toEqual({ text: "Passed, 1 flaky", meaning: "attention" });
  });

  it("tells failures, and a failed run that names none", () => {
    expect(verdictOf({ ...run, outcome: "failed", failed: 1200 })).toEqual({ text: "1,200 failed", meaning: "bad" });
    expect(verdictOf({ ...run, outcome: "failed" })).toEqual({ text: "Failed", meaning: "bad" });
  });

  it("counts what there is", () => {
    expect(countsOf({ ...run, failed: 1, skipped: 2, flaky: ["x"] })).toBe("3 passed, 1 failed, 2 skipped, 1 flaky");
  });

  it("says times as people do", () => {
    expect([timeOf(null), timeOf(0.0123), timeOf(1.49)]).toEqual(["", "12 ms", "1.5 s"]);
  });
});
