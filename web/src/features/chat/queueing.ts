/** Messages that wait for the turn under way are sent one after the other when it has ended. */
import { useEffect } from "react";

import { readStored } from "@/lib/stored";

import { useQueue } from "./sending";

export interface Queueing {
  queue: string[];
  add: (text: string) => void;
  remove: (at: number) => void;
}

/** `mayGo`: nothing is under way, and what ended last did not fail. */
export function useQueueing(repo: string, branch: string, mayGo: boolean, send: (text: string) => Promise<boolean>): Queueing {
  const [queue, setQueue] = useQueue(repo, branch);
  const waits = queue.length > 0;
  useEffect(() => {
    if (!mayGo || !waits) return;
    const key = `chat:queue:${repo}:${branch}`;
    const go = async () => {
      const [first, ...rest] = readStored<string[]>(key, []);
      if (first === undefined) return;
      setQueue(rest);
      if (!(await send(first))) setQueue((now) => [first, ...now]);
    };
    // Several windows may show this branch; one of them sends.
    const once = () => void ("locks" in navigator ? navigator.locks.request(`forge ${key}`, { ifAvailable: true }, (lock) => (lock ? go() : undefined)) : go());
    const timer = setTimeout(once, 300);
    return () => clearTimeout(timer);
    // `send` is another function each time; what it does is the same.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [mayGo, waits, repo, branch, setQueue]);
  return {
    queue,
    add: (text) => setQueue((before) => [...before, text]),
    remove: (at) => setQueue((before) => before.filter((_, i) => i !== at)),
  };
}
