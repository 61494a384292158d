import { useEffect, useState } from "react";

/** Seconds since a moment (in milliseconds), counted on twice a minute. */
export function useElapsed(since: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, now - since) / 1000;
}
