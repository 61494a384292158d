import { act, renderHook } from "@testing-library/react";
import { expect, it } from "vitest";

import { useFixedRows } from "./fixed_rows";

function scroller(height: number): HTMLElement {
  const element = document.createElement("div");
  Object.defineProperty(element, "clientHeight", { value: height });
  return element;
}

const scrolled = (element: HTMLElement, top: number) =>
  act(() => {
    element.scrollTop = top;
    element.dispatchEvent(new Event("scroll"));
  });

it("has the rows near the visible part, however many there are", () => {
  const box = { current: scroller(480) };
  const { result } = renderHook(() => useFixedRows({ box, count: 100_000, height: 24 }));
  expect([result.current.first, result.current.total]).toEqual([0, 2_400_000]);
  scrolled(box.current, 24 * 50_000);
  expect(result.current.first).toBe(49_992);
  expect(result.current.last).toBeGreaterThanOrEqual(50_020);
  expect(result.current.last).toBeLessThan(50_060);
  scrolled(box.current, 24 * 100_000);
  expect(result.current.last).toBe(99_999);
});

it("gives each visible row an element of its own, and uses those that left again", () => {
  const box = { current: scroller(480) };
  const { result } = renderHook(() => useFixedRows({ box, count: 1_000, height: 24 }));
  const slots = () => Array.from({ length: result.current.last - result.current.first + 1 }, (_, i) => result.current.slot(result.current.first + i));
  const before = new Set(slots());
  scrolled(box.current, 24 * 13);
  expect(new Set(slots()).size).toBe(slots().length);
  expect(slots().every((slot) => before.has(slot))).toBe(true);
});

it("shows a row by scrolling as little as needed, and keeps the upper one when rows get another height", () => {
  const box = { current: scroller(480) };
  const { result, rerender } = renderHook(({ height }) => useFixedRows({ box, count: 1_000, height }), { initialProps: { height: 24 } });
  act(() => result.current.show(5));
  expect(box.current.scrollTop).toBe(0);
  act(() => result.current.show(100));
  expect(box.current.scrollTop).toBe(101 * 24 - 480);
  act(() => result.current.show(50));
  expect(box.current.scrollTop).toBe(50 * 24);
  rerender({ height: 6 });
  expect(box.current.scrollTop).toBe(50 * 6);
});
