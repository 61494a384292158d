/** Live events for components: the page's one stream, its state, and topics. */
import { useEffect, useRef, useSyncExternalStore } from "react";

import { answer, api } from "./client";
import type { Heard } from "./event_kinds";
import { Stream, type Connection } from "./stream";

export type { Event, EventOf, EventType, Heard } from "./event_kinds";
export { topicOf } from "./event_kinds";

async function newest(topic: string, after: number): Promise<number> {
  for (let last = after; ; ) {
    const page = await answer(api.GET("/api/events", { params: { query: { topic, after: last, limit: 1000 } } }));
    if (page.next === last) return last;
    last = page.next;
  }
}

/** A refused upgrade looks to the page like a server that is gone, so the open door is tried by hand. */
function open(): WebSocket {
  const address = new URL("/api/stream", location.href);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  return new WebSocket(address);
}

export const stream = new Stream({ open, newest });

export function useConnection(): Connection {
  return useSyncExternalStore(stream.watch, stream.connection);
}

/**
 * Calls back for each event of a topic, recorded and live ones, each once and in order. Null hears nothing.
 * `after`: the id to begin after (as `send_message` and `perform_action` give it); without it, from now on.
 */
export function useTopic(topic: string | null, onEvent: (heard: Heard) => void, after?: number): void {
  const latest = useRef(onEvent);
  useEffect(() => {
    latest.current = onEvent;
  });
  useEffect(() => {
    if (topic === null) return;
    return stream.hear(topic, (heard) => latest.current(heard), after);
    // Where to begin is decided once, when the topic is first heard.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [topic]);
}
