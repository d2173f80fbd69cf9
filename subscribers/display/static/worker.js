// Streams shared by the pages of one browser. A browser opens at most six connections to a server,
// for all tabs and windows together, so a seventh page would never load. Each page names what it
// shows and receives only that. When a page joins, its stream reconnects, so that it receives the
// whole current state.

import { source } from "./source.js";

const PRESENCE_INTERVAL_MS = 2000; // between two keep-alive messages to the pages
// a page that is silent for longer has crashed; a hidden page sends something once a minute
const PAGE_GONE_MS = 150_000;
const JOIN_WINDOW_MS = 50; // pages that join within this time join together
/** @type {Map<string, Stream>} */
const streams = new Map();

// pages notice the silence and open their own streams
if (typeof EventSource === "undefined") close();

class Stream {
  constructor(path, query, kinds) {
    this.path = path;
    this.query = query;
    this.kinds = kinds;
    this.pages = new Map(); // port -> {names, lastMessage, joined}
    /** @type {ReturnType<typeof source> | null} */
    this.made = null;
    /** @type {number | undefined} */
    this.joining = undefined;
  }

  join(port, names) {
    this.pages.set(port, { names: new Set(names), lastMessage: performance.now(), joined: false });
    if (this.made?.isLost()) port.postMessage({ lost: true });
    clearTimeout(this.joining);
    this.joining = setTimeout(() => this.make(), JOIN_WINDOW_MS);
  }

  make() {
    for (const page of this.pages.values()) page.joined = true;
    if (this.made) this.made.again();
    else {
      this.made = source(() => this.address(), this.kinds, {
        onEvent: (kind, data) =>
          this.broadcast(
            { kind, data },
            kind === "beat" ? null : [`table=${data.table}`, `jackpot=${data.jackpot}`],
          ),
        onLost: (lost) => this.broadcast({ lost }),
        onRefused: () => this.broadcast({ refused: true }),
      });
    }
  }

  address() {
    const names = new Set([...this.pages.values()].flatMap((page) => [...page.names]));
    return `${this.path}?${[this.query, ...names].filter(Boolean).join("&")}`;
  }

  /**
   * Post a message to the pages that show one of `affected`; null: to all. A page without names
   * gets every message.
   */
  broadcast(message, /** @type {string[] | null} */ affected = null) {
    for (const [port, { names, joined }] of this.pages) {
      if (
        joined &&
        (affected === null || names.size === 0 || affected.some((name) => names.has(name)))
      ) {
        port.postMessage(message);
      }
    }
  }

  leave(port) {
    this.pages.delete(port);
    if (this.pages.size > 0) return;
    clearTimeout(this.joining);
    this.made?.close();
    streams.delete(`${this.path}?${this.query}`);
  }
}

addEventListener("connect", (event) => {
  const [port] = /** @type {MessageEvent} */ (event).ports;
  /** @type {Stream | undefined} */
  let stream;
  port.addEventListener("message", ({ data: { join, here, leave } }) => {
    if (join) {
      const key = `${join.path}?${join.query}`;
      stream = streams.get(key) ?? new Stream(join.path, join.query, join.kinds);
      streams.set(key, stream);
      stream.join(port, join.names);
      port.postMessage({ here: true });
    }
    if (here && stream?.pages.has(port)) stream.pages.get(port).lastMessage = performance.now();
    if (leave) stream?.leave(port);
  });
  port.start();
});

setInterval(() => {
  const now = performance.now();
  for (const stream of [...streams.values()]) {
    for (const [port, { lastMessage }] of [...stream.pages]) {
      if (now - lastMessage > PAGE_GONE_MS) stream.leave(port);
      else port.postMessage({ here: true });
    }
  }
}, PRESENCE_INTERVAL_MS);
