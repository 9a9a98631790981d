import type { ServerResponse } from 'node:http';

import type { Exchange } from './exchange.ts';

const AT_MOST_EVERY_MS = 80;
const LISTENERS_MAX = 100;

/** Signals open web pages by server-sent events that something has changed; they then load again. */
export class Live {
  readonly #listeners = new Set<ServerResponse>();
  #timer: NodeJS.Timeout | undefined;

  constructor(exchange: Exchange) {
    const signal = () => this.#signal(exchange);
    exchange.events.on('message', signal);
    exchange.events.on('call', signal);
  }

  add(response: ServerResponse): void {
    if (this.#listeners.size >= LISTENERS_MAX) {
      response.writeHead(503).end();
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write('retry: 1000\n\n');
    this.#listeners.add(response);
    response.on('close', () => this.#listeners.delete(response));
  }

  close(): void {
    clearTimeout(this.#timer);
    for (const response of this.#listeners) response.end();
  }

  #signal(exchange: Exchange): void {
    if (this.#listeners.size === 0 || this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      for (const response of this.#listeners) response.write(`data: ${exchange.lastSeq}\n\n`);
    }, AT_MOST_EVERY_MS);
    this.#timer.unref();
  }
}
