/** Taking a branch or a commit with the pointer and holding it over a branch. */
import { useEffect, useRef, useState, type PointerEvent as ReactPointerEvent } from "react";

import { scrollAtEdge } from "./edge_scroll";
import { verbFor, type Offer, type Source, type Verb } from "./offers";

export interface Held {
  source: Source;
  /** The branch below the pointer, if it can be dropped there. */
  over: string | null;
  verb: Verb;
}

const FAR = 6;

interface Grip {
  source: Source;
  x: number;
  y: number;
}

function sourceAt(target: Element): Source | null {
  const branch = target.closest<HTMLElement>("[data-take]")?.dataset["take"];
  if (branch !== undefined) return { rev: branch, isBranch: true };
  const commit = target.closest<HTMLElement>("[data-commit]")?.dataset["commit"];
  return commit === undefined ? null : { rev: commit, isBranch: false };
}

function branchAt(x: number, y: number): string | null {
  return document.elementFromPoint(x, y)?.closest<HTMLElement>("[data-drop]")?.dataset["drop"] ?? null;
}

export interface Hold {
  held: Held | null;
  /** Where the pointer took hold. */
  start: { x: number; y: number };
  onPointerDown: (event: ReactPointerEvent) => void;
}

/** Shift and Alt choose another verb while something is held; Escape lets go of it. */
export function useHold(onDrop: (offer: Offer) => void): Hold {
  const [grip, setGrip] = useState<Grip | null>(null);
  const [held, setHeld] = useState<Held | null>(null);
  const drop = useRef(onDrop);
  useEffect(() => {
    drop.current = onDrop;
  });

  useEffect(() => {
    if (grip === null) return;
    const { source } = grip;
    let now: Held | null = null;
    const set = (next: Held | null) => {
      if (next?.over === now?.over && next?.verb === now?.verb && (next === null) === (now === null)) return;
      now = next;
      setHeld(next);
    };
    const end = () => {
      set(null);
      setGrip(null);
    };
    const below = (x: number, y: number) => {
      const over = branchAt(x, y);
      return over === source.rev ? null : over;
    };
    let last = { x: grip.x, y: grip.y };
    let frame = 0;
    const scroll = () => {
      if (now !== null && scrollAtEdge(last.x, last.y)) set({ ...now, over: below(last.x, last.y) });
      frame = requestAnimationFrame(scroll);
    };
    const move = (event: PointerEvent) => {
      if (now === null && Math.hypot(event.clientX - grip.x, event.clientY - grip.y) < FAR) return;
      last = { x: event.clientX, y: event.clientY };
      set({ source, over: below(last.x, last.y), verb: verbFor(source, event) });
      if (frame === 0) frame = requestAnimationFrame(scroll);
    };
    const up = () => {
      const done = now;
      end();
      if (done === null) return;
      // The click that may follow belongs to the drop, not to what lies below it.
      const swallow = (click: MouseEvent) => click.stopPropagation();
      window.addEventListener("click", swallow, { capture: true });
      setTimeout(() => window.removeEventListener("click", swallow, { capture: true }), 0);
      if (done.over !== null) drop.current({ verb: done.verb, source, onto: done.over });
    };
    const key = (event: KeyboardEvent) => {
      if (now === null) return;
      if (event.key === "Escape") {
        event.stopPropagation();
        end();
      } else set({ ...now, verb: verbFor(source, event) });
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", up);
    window.addEventListener("pointercancel", end);
    window.addEventListener("keydown", key, { capture: true });
    window.addEventListener("keyup", key, { capture: true });
    return () => {
      cancelAnimationFrame(frame);
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", up);
      window.removeEventListener("pointercancel", end);
      window.removeEventListener("keydown", key, { capture: true });
      window.removeEventListener("keyup", key, { capture: true });
    };
  }, [grip]);

  const onPointerDown = (event: ReactPointerEvent) => {
    if (event.button !== 0 || !(event.target instanceof Element)) return;
    const source = sourceAt(event.target);
    // A finger on a row scrolls; on a label it takes the branch.
    if (source === null || (event.pointerType === "touch" && !source.isBranch)) return;
    setGrip({ source, x: event.clientX, y: event.clientY });
  };
  return { held, start: { x: grip?.x ?? 0, y: grip?.y ?? 0 }, onPointerDown };
}
