import { useCallback, useState } from "react";

/** Whether an element has been near the visible part once. */
export function useSeen(): [(element: Element | null) => (() => void) | undefined, boolean] {
  const [seen, setSeen] = useState(false);
  const ref = useCallback((element: Element | null) => {
    if (element === null) return undefined;
    if (typeof IntersectionObserver === "undefined") {
      setSeen(true);
      return undefined;
    }
    const watcher = new IntersectionObserver(([entry]) => entry?.isIntersecting === true && setSeen(true), { rootMargin: "200px" });
    watcher.observe(element);
    return () => watcher.disconnect();
  }, []);
  return [ref, seen];
}
