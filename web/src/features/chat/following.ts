/** Scrolling that never moves what is being read: it follows growing text only while the person is at its end. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from "react";

const NEAR_END = 8;
const NEAR_TOP = 600;

export interface Following {
  outer: RefObject<HTMLDivElement | null>;
  inner: RefObject<HTMLDivElement | null>;
  onScroll: () => void;
  atEnd: boolean;
  toEnd: () => void;
  toTop: () => void;
}

/** `first` names what stands first; when that changes, something was put above it. */
export function useFollowing(first: string, onNearTop: () => void): Following {
  const outer = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const last = useRef({ top: 0, height: 0, first });
  const [atEnd, setAtEnd] = useState(true);

  const toEnd = useCallback(() => {
    follows.current = true;
    setAtEnd(true);
    const box = outer.current;
    if (box) box.scrollTop = box.scrollHeight;
  }, []);

  const toTop = useCallback(() => {
    follows.current = false;
    setAtEnd(false);
    if (outer.current) outer.current.scrollTop = 0;
  }, []);

  const onScroll = useCallback(() => {
    const box = outer.current;
    if (!box) return;
    const left = box.scrollHeight - box.scrollTop - box.clientHeight;
    // Going up leaves the end at once, however little it was; only arriving there takes up following again.
    follows.current = left < NEAR_END || (follows.current && box.scrollTop >= last.current.top);
    last.current.top = box.scrollTop;
    last.current.height = box.scrollHeight;
    setAtEnd(follows.current || left < NEAR_END);
    if (box.scrollTop < NEAR_TOP) onNearTop();
  }, [onNearTop]);

  useEffect(() => {
    const [box, content] = [outer.current, inner.current];
    if (!box || !content) return;
    const keep = () => {
      if (follows.current) box.scrollTop = box.scrollHeight;
      last.current.height = box.scrollHeight;
    };
    const watcher = new ResizeObserver(keep);
    watcher.observe(content);
    watcher.observe(box);
    keep();
    return () => watcher.disconnect();
  }, []);

  useLayoutEffect(() => {
    const box = outer.current;
    if (!box || last.current.first === first) return;
    // At the very top browsers do not hold the place by themselves.
    if (!follows.current && box.scrollTop === last.current.top && box.scrollTop < 1) {
      box.scrollTop += box.scrollHeight - last.current.height;
    }
    last.current = { top: box.scrollTop, height: box.scrollHeight, first };
  }, [first]);

  return { outer, inner, onScroll, atEnd, toEnd, toTop };
}
