/** Whether the window fits a CSS media query, kept up to date. */
import { useCallback, useSyncExternalStore } from "react";

/** Where panels lie over the content instead of beside it. */
export const NARROW = "(max-width: 1023px)";
/** A phone: one thing at a time. */
export const PHONE = "(max-width: 639px)";

export function useMediaQuery(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const watched = window.matchMedia(query);
      watched.addEventListener("change", listener);
      return () => watched.removeEventListener("change", listener);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => window.matchMedia(query).matches);
}
