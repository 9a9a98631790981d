import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import { inflate } from '#ingest/inflate.ts';
import { readEvent } from '#ingest/protocols/sentry/event.ts';
import {
  decodeSentryRequest,
  SENTRY_BODY_LIMITS,
  type SentryDelivery,
  type SentryRequest,
} from '#ingest/protocols/sentry.ts';
import { Temporal } from '#kernel/time.ts';

export interface Recording {
  /** `python-1.9.10/01-store`. */
  readonly name: string;
  readonly request: SentryRequest;
  /** Body before the client's Content-Encoding. */
  readonly plainBody: Buffer;
}

interface RecordedRequest {
  readonly t: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly json?: unknown;
}

const FOLDER = new URL('recordings/sentry/', import.meta.url);

/** Every recorded request of every client, as it arrived. */
export function readRecordings(): readonly Recording[] {
  const names = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => toRecording(name.slice(0, -'.json'.length)));
}

function toRecording(name: string): Recording {
  const recorded = JSON.parse(readFileSync(new URL(`${name}.json`, FOLDER), 'utf8')) as RecordedRequest;
  const url = new URL(recorded.url, 'http://sender.test');
  const isStore = url.pathname.includes('/store');
  const plainBody = isStore
    ? Buffer.from(JSON.stringify(recorded.json))
    : readFileSync(new URL(`${name}.envelope`, FOLDER));
  return {
    name,
    plainBody,
    request: {
      kind: isStore ? 'store' : 'envelope',
      headers: recorded.headers,
      query: Object.fromEntries(url.searchParams),
      body: recorded.headers['content-encoding'] === 'gzip' ? gzipSync(plainBody) : plainBody,
      clientIp: '192.0.2.7',
      receivedAt: Temporal.Instant.fromEpochMilliseconds(recorded.t),
    },
  };
}

/** A delivery whose events have been read, too. */
export type ReadDelivery = Omit<SentryDelivery, 'events'> & { readonly events: readonly ExceptionEvent[] };

export async function decode(request: SentryRequest): Promise<ReadDelivery> {
  const delivery = await decodeSentryRequest(request, (body, encoding) => inflate(body, encoding, SENTRY_BODY_LIMITS));
  return { ...delivery, events: delivery.events.map(readEvent).filter((event) => typeof event !== 'string') };
}

/** A request of a client that names its key in a header and encodes nothing, received at noon. */
export function requestOf(
  kind: SentryRequest['kind'],
  body: Buffer | string,
  headers: Readonly<Record<string, string>> = {},
): SentryRequest {
  return {
    kind,
    headers: { 'x-sentry-auth': 'Sentry sentry_version=7, sentry_key=0123456789abcdef0123456789abcdef', ...headers },
    query: {},
    body: Buffer.from(body),
    clientIp: '192.0.2.7',
    receivedAt: Temporal.Instant.from('2026-11-21T12:00:00Z'),
  };
}
