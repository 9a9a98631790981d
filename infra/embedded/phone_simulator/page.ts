import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';

import type { FastifyInstance } from 'fastify';

import type { Exchange } from './exchange.ts';
import { renderPage } from './page_html.ts';
import { isE164 } from './twilio_errors.ts';

const asset = (name: string) => readFileSync(new URL(`web/${name}`, import.meta.url), 'utf8');

interface Parts {
  readonly exchange: Exchange;
  readonly live: Live;
}

/** The web page of the phones: `/` lists them, `/?number=+…` shows one. */
export async function phonePage(app: FastifyInstance, { exchange, live }: Parts): Promise<void> {
  const stylesheet = asset('phone.css') + asset('call.css');
  const script = asset('phone.js');
  const icon = asset('phone.svg');
  app.get('/phone.svg', (_request, reply) => reply.type('image/svg+xml').send(icon));
  app.get('/phone.css', (_request, reply) => reply.type('text/css; charset=utf-8').send(stylesheet));
  app.get('/phone.js', (_request, reply) => reply.type('text/javascript; charset=utf-8').send(script));
  app.get('/phone/live', (_request, reply) => {
    reply.hijack();
    live.add(reply.raw);
  });
  app.get<{ Querystring: { number?: unknown } }>('/', (request, reply) => {
    const [address = '', query] = request.url.split('?');
    // Links of the page are relative to it.
    if (!address.endsWith('/')) return reply.redirect(`${address}/${query === undefined ? '' : `?${query}`}`, 308);
    const number = toNumber(request.query.number);
    return reply.type('text/html; charset=utf-8').send(renderPage(exchange, number).text);
  });
}

/** A `+` in an address typed by hand arrives as a space. */
function toNumber(sent: unknown): string | null {
  const number = typeof sent === 'string' ? `+${sent.replaceAll(/\D/g, '')}` : '';
  return isE164(number) ? number : null;
}

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
