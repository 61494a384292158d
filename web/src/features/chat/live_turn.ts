/** One store for each branch whose chat was open: hears its turns, catches up on what it missed, tells once a frame. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";

import { answer, api, ApiProblem, keys, topicOf, useConnection, useTopic, type Event, type Heard } from "@/api";

import { heardTurn, interrupted, type Live } from "./hearing";
import type { ShownTurn } from "./parts";

interface Recorded {
  id: number;
  time: number;
  event: Event;
}

type Read = (topic: string, after: number) => Promise<{ items: Recorded[]; next: number }>;

const readEvents: Read = async (topic, after) => {
  const page = await answer(api.GET("/api/events", { params: { query: { topic, after, limit: 1000 } } }));
  return { items: page.items as unknown as Recorded[], next: page.next };
};

export class LiveTurn {
  private live: Live | null = null;
  private shown: ShownTurn | null = null;
  /** The last recorded event that is in `live`; null where the next one is the first. */
  private last: number | null = null;
  private waiting: Recorded[] | null = [];
  private readonly listeners = new Set<() => void>();
  private frame = false;
  private readings = 0;

  constructor(
    private readonly topic: string,
    private readonly read: Read = readEvents,
    private readonly later: (draw: () => void) => void = (draw) => void requestAnimationFrame(draw),
  ) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly now = (): ShownTurn | null => this.shown;

  readonly take = (heard: Heard): void => {
    if (heard.id === null) {
      // A piece of a text whose beginning is not known is of no use: the whole follows.
      if (this.waiting === null && this.follows(heard.event)) this.apply(heard.event, heard.time);
      return;
    }
    const recorded = { id: heard.id, time: heard.time, event: heard.event };
    if (this.waiting !== null) this.waiting.push(recorded);
    else if (this.misses(recorded)) this.catchUp(this.last ?? 0, [recorded]);
    else this.record(recorded);
  };

  /** Nothing is under way: whatever comes next is new. */
  ready(): void {
    if (this.readings > 0) return;
    const { waiting } = this;
    this.waiting = null;
    waiting?.forEach((recorded) => this.record(recorded));
  }

  catchUp(after: number, waiting: Recorded[] = []): void {
    this.waiting = [...(this.waiting ?? []), ...waiting];
    this.readings += 1;
    void this.readOn(Math.max(after, this.last ?? 0)).then(() => {
      this.readings -= 1;
      this.ready();
    });
  }

  /** The connection broke: pieces of the text that is being said are lost. */
  interrupt(): void {
    if (this.live !== null) this.live = interrupted(this.live);
  }

  private async readOn(after: number): Promise<void> {
    try {
      for (let at = after; ; ) {
        const page = await this.read(this.topic, at);
        page.items.forEach((recorded) => this.record(recorded));
        if (page.next === at) return;
        at = page.next;
      }
    } catch (error) {
      // Gone: when it is there again the stream tells the rest, and a gap in its ids is read again.
      if (!(error instanceof ApiProblem)) throw error;
    }
  }

  private follows(event: Event): boolean {
    return "turn" in event && event.turn === this.live?.turn.id;
  }

  private misses({ id, event }: Recorded): boolean {
    if (this.last !== null) return id > this.last + 1;
    return "turn" in event && event.type !== "TurnStarted" && !this.follows(event);
  }

  private record({ id, time, event }: Recorded): void {
    if (this.last !== null && id <= this.last) return;
    this.last = id;
    this.apply(event, time);
  }

  private apply(event: Event, time: number): void {
    const next = heardTurn(this.live, event, time);
    if (next === this.live) return;
    this.live = next;
    if (this.frame) return;
    this.frame = true;
    this.later(() => {
      this.frame = false;
      this.shown = this.live?.turn ?? null;
      this.listeners.forEach((listener) => listener());
    });
  }
}

const LOOK_AGAIN = 3000;
const STORES = new Map<string, LiveTurn>();

function storeOf(topic: string): LiveTurn {
  const known = STORES.get(topic) ?? new LiveTurn(topic);
  STORES.set(topic, known);
  return known;
}

/**
 * The newest turn that was heard of, under way or just ended. `wanted`: the mark of one that is under way or was sent,
 * null where there is none, undefined while that is not known; its events come after `since`.
 */
export function useLiveTurn(repo: string, branch: string, wanted: string | null | undefined, since: number): ShownTurn | null {
  const topic = topicOf.branch(repo, branch);
  const store = storeOf(topic);
  const client = useQueryClient();
  const connected = useConnection().state === "connected";
  useTopic(topic, (heard) => {
    store.take(heard);
    // What a turn changed may be a tool.
    if (heard.event.type === "TurnCommitted") void client.invalidateQueries({ queryKey: keys.tools(repo, branch) });
  });
  useEffect(() => {
    if (wanted === null) store.ready();
    if (typeof wanted !== "string" || !connected) return;
    // The page may have begun to listen when all was said already.
    const look = () => store.now()?.mark !== wanted && store.catchUp(since);
    look();
    const timer = setInterval(look, LOOK_AGAIN);
    return () => clearInterval(timer);
  }, [store, wanted, since, connected]);
  useEffect(() => {
    if (!connected) store.interrupt();
    return () => store.interrupt();
  }, [store, connected]);
  return useSyncExternalStore(store.subscribe, store.now);
}
