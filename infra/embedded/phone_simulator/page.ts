import { readFileSync } from 'node:fs';

import type { FastifyInstance } from 'fastify';

import type { Exchange } from './exchange.ts';
import type { Live } from './live.ts';
import { renderPage } from './page_html.ts';
import { isE164 } from './reachable.ts';

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
