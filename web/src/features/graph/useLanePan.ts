/** Moving the lanes sideways, and zooming with the wheel. */
import { useEffect, useRef, useState, type RefObject } from "react";

export interface LanePan {
  pan: number;
  /** Moves the lanes by so many pixels. */
  by: (pixels: number) => void;
}

export function useLanePan(scroller: RefObject<HTMLElement | null>, most: number, onZoom: (step: number) => void): LanePan {
  const [wanted, setWanted] = useState(0);
  const pan = Math.max(0, Math.min(wanted, most));
  const latest = useRef({ onZoom, pan, most });
  useEffect(() => {
    latest.current = { onZoom, pan, most };
  });
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    let gathered = 0;
    const wheel = (event: WheelEvent) => {
      if (event.ctrlKey || event.metaKey) {
        event.preventDefault();
        gathered += event.deltaY;
        // A trackpad sends many small steps, a wheel a few large ones.
        if (Math.abs(gathered) < 40) return;
        latest.current.onZoom(gathered < 0 ? 1 : -1);
        gathered = 0;
      } else if (latest.current.most > 0 && (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))) {
        event.preventDefault();
        setWanted(Math.max(0, Math.min(latest.current.pan + (event.deltaX || event.deltaY), latest.current.most)));
      }
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, [scroller]);
  return { pan, by: (pixels) => setWanted(Math.max(0, Math.min(pan + pixels, most))) };
}
