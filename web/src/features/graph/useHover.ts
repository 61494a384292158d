/** Which row the pointer rests on. */
import { useEffect, useRef, useState, type PointerEvent, type RefObject } from "react";

export interface Hover {
  commit: string;
  x: number;
  y: number;
}

const REST = 450;

export function useHover(scroller: RefObject<HTMLElement | null>) {
  const [hover, setHover] = useState<Hover | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const last = useRef<string>(undefined);
  const leave = () => {
    clearTimeout(timer.current);
    last.current = undefined;
    setHover(null);
  };
  useEffect(() => {
    const element = scroller.current;
    element?.addEventListener("scroll", leave, { passive: true });
    return () => {
      clearTimeout(timer.current);
      element?.removeEventListener("scroll", leave);
    };
  }, [scroller]);
  const onPointerMove = (event: PointerEvent) => {
    if (event.pointerType !== "mouse" || event.buttons !== 0) return;
    const commit = (event.target as Element).closest<HTMLElement>("[data-commit]")?.dataset["commit"];
    if (commit === last.current) return;
    leave();
    last.current = commit;
    const { clientX: x, clientY: y } = event;
    if (commit !== undefined) timer.current = setTimeout(() => setHover({ commit, x, y }), REST);
  };
  return { hover, onPointerMove, onPointerLeave: leave, onPointerDownCapture: leave };
}
