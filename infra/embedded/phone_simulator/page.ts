import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';

import { type CallLine, durationSeconds, type PhoneCall } from './call.ts';
import type { Exchange } from './exchange.ts';
import type { PhoneMessage } from './message.ts';
import { findLiveCall, listPhones, listThread, type PhoneSummary } from './phone_book.ts';
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

/** Text that is already HTML. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  toString(): string {
    return this.text;
  }
}

type Part = Html | string | number | null | readonly Part[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes everything put into it but what is Html already; null is nothing. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.map((string, index) => string + toText(parts[index] ?? null)).join(''));
}

function toText(part: Part): string {
  if (part === null) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(toText).join('');
  return String(part).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

const THREAD_MAX = 200;
const PHONES_MAX = 200;
const KEYS = ['1', '2', '3'];

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });

const HANDSET = new Html(
  '<svg viewBox="0 0 24 24" aria-hidden="true"><path d="M6.6 10.8a15 15 0 0 0 6.6 6.6l2.2-2.2a1 1 0 0 1 1-.25 11.4 11.4 0 0 0 3.6.57 1 1 0 0 1 1 1V20a1 1 0 0 1-1 1A17 17 0 0 1 3 4a1 1 0 0 1 1-1h3.5a1 1 0 0 1 1 1c0 1.25.2 2.45.57 3.57a1 1 0 0 1-.25 1z"/></svg>',
);

/** The whole page. Its script replaces `#phones`, `#call` and `#thread` with those of a newer page. */
function renderPage(exchange: Exchange, number: string | null): Html {
  const live = number === null ? null : findLiveCall(exchange, number);
  const title = live?.status === 'ringing' ? `Ringing: ${live.from}` : (number ?? 'Phones');
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · phone simulator</title>
        <link rel="icon" href="phone.svg" />
        <link rel="stylesheet" href="phone.css" />
        <script type="module" src="phone.js"></script>
      </head>
      <body class="${number === null ? 'shows-list' : 'shows-phone'}">
        ${renderList(exchange, number)} ${number === null ? renderNoPhone() : renderPhone(exchange, number, live)}
      </body>
    </html> `;
}

function renderList(exchange: Exchange, current: string | null): Html {
  const phones = listPhones(exchange).slice(0, PHONES_MAX);
  return html`<aside class="list">
    <header>
      <h1>Phones</h1>
      <p>Simulated: no message and no call leaves this machine.</p>
    </header>
    <nav id="phones" aria-label="Phones">
      ${phones.map((phone) => renderSummary(phone, phone.number === current))}
      ${phones.length === 0 ? html`<p class="empty">No phone has been texted or called yet.</p>` : null}
    </nav>
    <form class="open" action="./" method="get">
      <label for="number">Open another phone</label>
      <input id="number" name="number" type="tel" placeholder="+31612345678" required pattern="\\+?[0-9 ]{7,20}" />
      <button>Open</button>
    </form>
  </aside>`;
}

function renderSummary(phone: PhoneSummary, isCurrent: boolean): Html {
  const href = `./?number=${encodeURIComponent(phone.number)}`;
  return html`<a class="summary" href="${href}" ${isCurrent ? new Html('aria-current="page"') : null}>
    <span class="face" aria-hidden="true">${phone.number.slice(-2)}</span>
    <span class="who"><b>${phone.number}</b><span class="last">${phone.lastText}</span></span>
    ${phone.hasLiveCall ? html`<span class="live">${HANDSET} call</span>` : renderTime(phone.lastAtMs)}
  </a>`;
}

function renderNoPhone(): Html {
  return html`<main class="phone is-empty"><p>Choose a phone to read its messages and answer its calls.</p></main>`;
}

function renderPhone(exchange: Exchange, number: string, live: PhoneCall | null): Html {
  return html`<main class="phone">
    <header class="bar">
      <a class="back" href="./" aria-label="All phones">‹</a>
      <span class="face" aria-hidden="true">${number.slice(-2)}</span>
      <h2>${number}</h2>
    </header>
    <section id="call" aria-live="polite">${live === null ? null : renderLiveCall(live)}</section>
    <ol id="thread" role="log" aria-label="Messages and calls" tabindex="0">
      ${listThread(exchange, number, THREAD_MAX)
        .filter((entry) => entry.record !== live)
        .map((entry) => (entry.kind === 'message' ? renderMessage(entry.record) : renderPastCall(entry.record)))}
    </ol>
    <p id="notice" role="alert"></p>
    <form id="reply" data-from="${number}">
      <input
        name="body"
        autocomplete="off"
        maxlength="1600"
        placeholder="Text message"
        aria-label="Text message"
        required
      />
      <button>Send</button>
    </form>
  </main>`;
}

function renderMessage(message: PhoneMessage): Html {
  const isOwn = message.direction === 'inbound';
  const hasFailed = message.errorCode !== null;
  const status = isOwn && !hasFailed ? 'sent' : message.status;
  return html`<li class="message ${isOwn ? 'is-own' : ''} ${hasFailed ? 'has-failed' : ''}">
    <p>${linked(message.body)}</p>
    <small>
      ${renderTime(message.createdAtMs)} · ${status}
      ${hasFailed ? html`· ${message.errorCode} ${message.errorMessage}` : null}
    </small>
  </li>`;
}

function renderPastCall(call: PhoneCall): Html {
  const picked = call.pickedUpBy === 'machine' ? ' by the answering machine' : '';
  const length = call.endedAtMs !== null && call.startedAtMs !== null ? ` · ${durationSeconds(call)} s` : '';
  return html`<li class="past-call is-${call.status}">
    <p class="heading">${HANDSET} Call received · ${call.status}${picked}</p>
    ${call.transcript.map(renderLine)} ${call.problem === null ? null : html`<p class="problem">${call.problem}</p>`}
    <small>${renderTime(call.createdAtMs)}${length}</small>
  </li>`;
}

function renderLine(line: CallLine): Html {
  return line.by === 'caller' ? html`<p>“${line.text}”</p>` : html`<p class="keys">pressed ${line.text}</p>`;
}

function renderLiveCall(call: PhoneCall): Html {
  return call.status === 'ringing' ? renderRinging(call) : renderTalking(call);
}

function renderRinging(call: PhoneCall): Html {
  return html`<div class="panel is-ringing">
    <p class="state">Incoming call</p>
    <p class="caller">${call.from}</p>
    <div class="choices">
      ${button(call, 'reject', 'Reject', { class: 'round is-red' })}
      ${button(call, 'answer', 'Answer', { class: 'round is-green' })}
    </div>
    <div class="choices is-minor">
      ${button(call, 'answer', 'Answering machine', { by: 'machine' })} ${button(call, 'let_ring', 'Let it ring out')}
    </div>
  </div>`;
}

function renderTalking(call: PhoneCall): Html {
  return html`<div class="panel">
    <p class="state">In call${call.pickedUpBy === 'machine' ? ' · answering machine' : ''}</p>
    <p class="caller">${call.from}</p>
    <div class="said">${call.transcript.slice(-6).map(renderLine)}</div>
    <div class="choices">
      ${KEYS.map((key) => button(call, 'press', key, { class: 'key', keys: key, isDisabled: !call.isListening }))}
    </div>
    <div class="choices">
      ${button(call, 'stay_silent', 'Stay silent', { isDisabled: !call.isListening })}
      ${button(call, 'hang_up', 'Hang up', { class: 'is-red' })}
    </div>
  </div>`;
}

interface ButtonOptions {
  readonly class?: string;
  readonly by?: string;
  readonly keys?: string;
  readonly isDisabled?: boolean;
}

/** The script posts `data-act` with the other data attributes to the control API. */
function button(call: PhoneCall, act: string, label: string, options: ButtonOptions = {}): Html {
  const { by, keys, isDisabled = false } = options;
  return html`<button
    type="button"
    class="${options.class ?? ''}"
    data-act="${act}"
    data-call-sid="${call.sid}"
    ${by === undefined ? null : html`data-by="${by}"`}
    ${keys === undefined ? null : html`data-keys="${keys}"`}
    ${isDisabled ? new Html('disabled') : null}
  >
    ${options.class?.startsWith('round') ? HANDSET : null}<span>${label}</span>
  </button>`;
}

function renderTime(ms: number): Html {
  return html`<time datetime="${new Date(ms).toISOString()}">${clock.format(ms)}</time>`;
}

/** Web addresses become links, as on a phone. */
function linked(text: string): Html[] {
  return text
    .split(/(https?:\/\/[^\s]+)/)
    .map((part, index) =>
      index % 2 === 1 ? html`<a href="${part}" target="_blank" rel="noopener noreferrer">${part}</a>` : html`${part}`,
    );
}
