/** One WebSocket for the page: topics are subscribed to, and after a break each continues from the last id that was seen. */
import type { Event, Heard } from "./event_kinds";

export type Connection =
  | { state: "connecting" }
  | { state: "connected" }
  /** `at`: when the next attempt is made (milliseconds). */
  | { state: "reconnecting"; at: number }
  /** The server does not know this browser any more. */
  | { state: "refused" };

export type Listener = (heard: Heard) => void;

interface Topic {
  listeners: Set<Listener>;
  /** The last id seen; null until it is known where to begin. */
  last: number | null;
}

interface Message {
  topic?: string;
  id?: number;
  time?: number;
  live?: boolean;
  event?: Event;
  ping?: number;
  problem?: { code: string };
}

const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30_000;
const REFUSED = 1008;
/** The record is another one than before: a topic begins anew where it ends now. */
const UNKNOWN_PLACE = "event_unknown";

export interface StreamParts {
  open: () => WebSocket;
  /** The id of the newest recorded event of a topic, from the one given on. */
  newest: (topic: string, after: number) => Promise<number>;
}

export class Stream {
  private readonly topics = new Map<string, Topic>();
  /** Where topics were left that nobody listens to now. */
  private readonly left = new Map<string, number>();
  private readonly watchers = new Set<() => void>();
  private readonly everywhere = new Set<Listener>();
  private socket: WebSocket | null = null;
  private wait = FIRST_WAIT;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private now: Connection = { state: "connecting" };

  constructor(private readonly parts: StreamParts) {}

  readonly connection = (): Connection => this.now;

  readonly watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  /** Hears every topic that anybody listens to. */
  hearAll(listener: Listener): () => void {
    this.everywhere.add(listener);
    return () => this.everywhere.delete(listener);
  }

  /** From `after` on, or from now. The first listener of a topic decides where it begins. */
  hear(name: string, listener: Listener, after?: number): () => void {
    let topic = this.topics.get(name);
    if (topic === undefined) {
      topic = { listeners: new Set(), last: after ?? null };
      this.topics.set(name, topic);
      this.begin(name, topic);
    }
    const mine = topic;
    // A function of its own, so that the same listener may hear a topic from two places.
    const own: Listener = (heard) => listener(heard);
    mine.listeners.add(own);
    return () => {
      mine.listeners.delete(own);
      if (mine.listeners.size === 0 && this.topics.get(name) === mine) this.end(name, mine);
    };
  }

  connect(): void {
    if (this.socket !== null) return;
    clearTimeout(this.timer);
    const socket = this.parts.open();
    this.socket = socket;
    socket.onopen = () => {
      this.wait = FIRST_WAIT;
      this.become({ state: "connected" });
      this.topics.forEach((topic, name) => this.subscribe(name, topic));
    };
    socket.onmessage = (message: MessageEvent<string>) => this.take(JSON.parse(message.data) as Message);
    socket.onclose = (event) => this.closed(socket, event.code);
  }

  /** Without waiting for the next attempt. */
  connectNow(): void {
    if (this.now.state !== "reconnecting" || this.socket !== null) return;
    this.become({ state: "reconnecting", at: Date.now() });
    this.connect();
  }

  /** For good, or until `connect`. */
  close(): void {
    clearTimeout(this.timer);
    const { socket } = this;
    this.socket = null;
    socket?.close();
  }

  private begin(name: string, topic: Topic): void {
    if (topic.last !== null) {
      this.subscribe(name, topic);
      return;
    }
    this.parts.newest(name, this.left.get(name) ?? 0).then(
      (id) => {
        topic.last ??= id;
        if (this.topics.get(name) === topic) this.subscribe(name, topic);
      },
      () => undefined, // gone or unreachable: whoever shows the thing itself says so; a reconnect asks again
    );
  }

  private end(name: string, topic: Topic): void {
    this.topics.delete(name);
    if (topic.last !== null) this.left.set(name, topic.last);
    this.send({ unsubscribe: name });
  }

  private subscribe(name: string, topic: Topic): void {
    if (topic.last === null) {
      if (this.now.state === "connected") this.begin(name, topic);
      return;
    }
    this.send({ subscribe: name, after: topic.last });
  }

  private send(message: object): void {
    if (this.socket?.readyState === 1) this.socket.send(JSON.stringify(message));
  }

  private take(message: Message): void {
    if (message.ping !== undefined) {
      this.send({ pong: message.ping });
      return;
    }
    const topic = this.topics.get(message.topic ?? "");
    if (topic === undefined || message.topic === undefined) return;
    if (message.problem?.code === UNKNOWN_PLACE) {
      this.left.delete(message.topic);
      topic.last = null;
      this.begin(message.topic, topic);
      return;
    }
    if (message.event === undefined) return;
    if (message.id !== undefined) {
      if (topic.last !== null && message.id <= topic.last) return; // seen before the break
      topic.last = message.id;
    }
    const heard: Heard = {
      topic: message.topic,
      id: message.id ?? null,
      time: message.time ?? Date.now() / 1000,
      event: message.event,
    };
    this.everywhere.forEach((listener) => listener(heard));
    topic.listeners.forEach((listener) => listener(heard));
  }

  private closed(socket: WebSocket, code: number): void {
    if (this.socket !== socket) return;
    this.socket = null;
    if (code === REFUSED) {
      this.become({ state: "refused" });
      return;
    }
    this.become({ state: "reconnecting", at: Date.now() + this.wait });
    this.timer = setTimeout(() => this.connect(), this.wait);
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
  }

  private become(next: Connection): void {
    this.now = next;
    this.watchers.forEach((watcher) => watcher());
  }
}
