import { describe, expect, it } from "vitest";

import type { Turn } from "@/api";

import { fallen, joined, type TurnsPage } from "./conversation";

const turns = (newest: number, oldest: number): Turn[] =>
  Array.from({ length: newest - oldest + 1 }, (_, i) => ({ id: `t${newest - i}`, number: newest - i }) as Turn);
const numbers = (found: readonly Turn[]) => found.map((turn) => turn.number);
const none: TurnsPage = { items: [], next: null };

describe("a conversation whose newest page moves on", () => {
  const before = { items: turns(100, 89), next: "after 89" };
  const now = { items: turns(101, 90), next: "after 90" };

  it("keeps all that was loaded before it", () => {
    const older = fallen(before, now, { items: turns(88, 1), next: null });
    expect(numbers(joined(now.items, older.items))).toEqual(numbers(turns(101, 1)));
    expect(older.next).toBeNull();
  });

  it("knows where to go on when nothing older was loaded yet", () => {
    expect(fallen(before, now, none)).toEqual({ items: turns(89, 89), next: "after 89" });
  });

  it("goes on from the page itself when too many turns came at once", () => {
    const far = { items: turns(140, 129), next: "after 129" };
    const older = fallen(before, far, { items: turns(88, 1), next: null });
    expect(numbers(joined(far.items, older.items))).toEqual(numbers(far.items));
  });

  it("keeps what is known when the branch went back", () => {
    const back = { items: turns(50, 39), next: "after 39" };
    const older = { items: turns(88, 1), next: null };
    expect(fallen(before, back, older)).toBe(older);
    expect(numbers(joined(back.items, older.items))).toEqual(numbers(turns(50, 1)));
  });
});
