import { useCallback, useState } from "react";

/** Whether an element has less than so many pixels; the first value is its ref. */
export function useNarrow(pixels: number): [(element: HTMLElement | null) => (() => void) | undefined, boolean] {
  const [narrow, setNarrow] = useState(false);
  const ref = useCallback(
    (element: HTMLElement | null) => {
      if (element === null) return undefined;
      setNarrow(element.clientWidth < pixels);
      const watch = new ResizeObserver(() => setNarrow(element.clientWidth < pixels));
      watch.observe(element);
      return () => watch.disconnect();
    },
    [pixels],
  );
  return [ref, narrow];
}
