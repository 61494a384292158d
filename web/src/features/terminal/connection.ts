/** One shell on a branch: keys and output as bytes, its end and what it changed as JSON. */

export interface Ended {
  exit_code: number;
  changes: { path: string; change: string }[];
  changed: number;
  notes: string[];
}

export interface Told {
  ended?: Ended;
  saved?: string;
  discarded?: boolean;
  problem?: { detail?: string; title?: string; hint?: string };
}

export interface Listeners {
  onOutput: (data: Uint8Array) => void;
  onTold: (told: Told) => void;
  onClosed: () => void;
}

export class Connection {
  readonly #socket: WebSocket;
  readonly #encoder = new TextEncoder();

  constructor(repo: string, branch: string, listeners: Listeners) {
    const address = new URL(`/api/repositories/${encodeURIComponent(repo)}/terminal`, location.href);
    address.searchParams.set("branch", branch);
    address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
    this.#socket = new WebSocket(address);
    this.#socket.binaryType = "arraybuffer";
    this.#socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (typeof data === "string") listeners.onTold(JSON.parse(data) as Told);
      else listeners.onOutput(new Uint8Array(data));
    };
    this.#socket.onclose = listeners.onClosed;
  }

  type(keys: string): void {
    this.#send(this.#encoder.encode(keys));
  }

  resize(rows: number, columns: number): void {
    this.#send(JSON.stringify({ resize: [rows, columns] }));
  }

  end(): void {
    this.#send(JSON.stringify({ end: true }));
  }

  save(message: string): void {
    this.#send(JSON.stringify({ save: message }));
  }

  discard(): void {
    this.#send(JSON.stringify({ discard: true }));
  }

  close(): void {
    this.#socket.close();
  }

  #send(data: string | Uint8Array<ArrayBuffer>): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(data);
    else if (this.#socket.readyState === WebSocket.CONNECTING) this.#socket.addEventListener("open", () => this.#socket.send(data), { once: true });
  }
}
