import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

import { type Client, connect } from '#infra/demo/client.ts';
import { newEventId } from '#infra/bench/paging/sender.ts';
import { debugIdOf, largeMapsUpload, sharedMapUpload, Uploader } from './heavy_uploads.ts';

/** Does the work again and again, whether or not it fails, until it is told to stop. */
export async function repeat(signal: AbortSignal, everyMs: number, work: () => Promise<unknown>): Promise<void> {
  while (!signal.aborted) {
    await work().catch(() => {});
    await delay(everyMs);
  }
}

const PATTERNS_A_SELECTOR = 7;
/** Expensive to compile for its length. */
const CLASSES = 60;

/** A selector of seven patterns that nobody has sent before. */
function newSelector(metric: string, index: number): string {
  const matchers = Array.from({ length: PATTERNS_A_SELECTOR }, (_, place) => {
    return `l${place}=~"(?i)${'\\\\pL'.repeat(CLASSES)}${index}x${place}"`;
  });
  return `${metric}{${matchers.join(',')}}`;
}

export const SHARED_ENTRIES = 5_000;
export const SHARED_MAP_BYTES = 4 * 1024 * 1024;
export const LARGE_MAPS = 20;
export const LARGE_MAP_BYTES = 24 * 1024 * 1024;
export const RULES = 150;
export const MEGABYTES_OF_BOMB = 110;
export const MEGABYTES_OF_EVENT = 0.9;

/** Stands for the id of an event. */
const EVENT_ID = 'f'.repeat(32);

interface Attacker {
  attack(signal: AbortSignal): Promise<void>;
  /** Returns how the requests of the attack itself ended, a row for each kind. */
  outcome(): Promise<Record<string, string>[]>;
}

/** Makes the services of the attacker, and stores its large maps. */
export async function prepareAttacker({
  baseUrl,
  key,
}: {
  readonly baseUrl: string;
  readonly key: string;
}): Promise<Attacker> {
  const client = connect({ baseUrl, apiKey: key, userId: '', phoneUrl: '', stop: async () => {} });
  const service = await createService(client, 'intruder');
  // It has a service of its own, because bodies that are refused count against their service.
  const bombed = await createService(client, 'bombed');
  const uploader = new Uploader({ baseUrl }, key, 'intruder', 'intruder');
  const large = largeMapsUpload(LARGE_MAPS, LARGE_MAP_BYTES);
  await uploader.upload(large);
  const prepared = performance.now();
  while ((await uploader.stateOf(large)) === 'created' && performance.now() - prepared < 120_000) await delay(500);
  const shared = ['one', 'two'].map((mark) => sharedMapUpload(SHARED_ENTRIES, SHARED_MAP_BYTES, mark));
  const outcomes = new Map<string, Map<string, number>>();
  const note = (what: string, how: string): void => {
    const of = outcomes.get(what) ?? new Map<string, number>();
    outcomes.set(what, of.set(how, (of.get(how) ?? 0) + 1));
  };
  const noted = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    const how = await work().then(
      (result) => (typeof result === 'number' ? String(result) : 'done'),
      (error: unknown) => reasonOf(error),
    );
    note(what, how);
  };
  let index = 0;
  const next = (): number => (index += 1);
  const bomb = gzipSync(Buffer.alloc(MEGABYTES_OF_BOMB * 1_000_000, ' '));
  return {
    async attack(signal) {
      for (const bytes of shared) void noted('uploads begun', () => uploader.upload(bytes));
      const several = (times: number, everyMs: number, work: () => Promise<unknown>): Promise<void>[] =>
        Array.from({ length: times }, () => repeat(signal, everyMs, work));
      await Promise.all([
        ...several(1, 200, () => noted('events', () => sendMapped(service.dsn))),
        ...several(1, 200, () => noted('large events', () => sendLarge(service.dsn, next()))),
        ...several(4, 0, () =>
          noted('queries', () =>
            client.action('query_metric', {
              serviceId: service.serviceId,
              metricName: newSelector('cpu', next()),
              windowMinutes: 60,
            }),
          ),
        ),
        ...several(10, 0, () => noted('bodies', () => sendBomb(bombed.dsn, bomb))),
        ...several(2, 0, async () => {
          if ((outcomes.get('rules')?.get('done') ?? 0) >= RULES) return await delay(1_000);
          const config = { metricName: newSelector('cpu', next()), comparator: '>', threshold: 1, windowMinutes: 5 };
          const rule = { serviceId: service.serviceId, name: 'r', kind: 'metric_threshold', config };
          await noted('rules', () => client.action('create_alert_rule', rule));
        }),
      ]);
    },
    async outcome() {
      for (const bytes of shared) note('uploads', (await uploader.stateOf(bytes)).slice(0, 90));
      return [...outcomes].map(([what, hows]) => ({
        attacker: what,
        outcome: [...hows].map(([how, times]) => `${times} × ${how}`).join(', '),
      }));
    },
  };
}

async function createService(client: Client, name: string): Promise<{ serviceId: string; dsn: string }> {
  const service = await client.action<{ serviceId: string; dsn: string }>('create_service', { name });
  for (const capability of ['metrics', 'exceptions', 'oncall']) {
    await client.action('enable_capability', { serviceId: service.serviceId, capability });
  }
  return service;
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return /LIMIT_\w+|CALLS_\w+/.exec(text)?.[0] ?? text.slice(0, 80);
}

/** An event of two kilobytes that names twenty maps. */
async function sendMapped(dsn: string): Promise<number> {
  const { origin, username, pathname } = new URL(dsn);
  const eventId = newEventId();
  const paths = Array.from({ length: LARGE_MAPS }, (_, index) => `https://x.example/m${index}.js`);
  const frames = paths.map((path) => ({ function: 'a', filename: path, abs_path: path, lineno: 1, colno: 1 }));
  const images = paths.map((path, at) => ({ type: 'sourcemap', code_file: path, debug_id: debugIdOf(at) }));
  const event = {
    event_id: eventId,
    platform: 'javascript',
    exception: { values: [{ type: 'Error', value: eventId, stacktrace: { frames } }] },
    debug_meta: { images },
  };
  const lines = [{ event_id: eventId }, { type: 'event' }, event].map((line) => JSON.stringify(line)).join('\n');
  const response = await fetch(`${origin}/api${pathname}/envelope/?sentry_key=${username}`, {
    method: 'POST',
    body: lines,
  });
  await response.text();
  return response.status;
}

/** Alternately one that takes long to read, and one that takes long to group; made once, because that takes long, too. */
const LARGE = [
  { message: EVENT_ID, tags: Array.from({ length: (MEGABYTES_OF_EVENT * 1_000_000) / 9 }, () => ['a', {}]) },
  {
    exception: {
      values: Array.from({ length: 8 }, () => ({
        type: 'E',
        stacktrace: { frames: frames((MEGABYTES_OF_EVENT * 1_000_000) / 8) },
      })),
    },
  },
].map((event) =>
  [{ event_id: EVENT_ID }, { type: 'event' }, { event_id: EVENT_ID, platform: 'javascript', ...event }]
    .map((line) => JSON.stringify(line))
    .join('\n'),
);

async function sendLarge(dsn: string, index: number): Promise<number> {
  const { origin, username, pathname } = new URL(dsn);
  const body = LARGE[index % LARGE.length]?.replaceAll(EVENT_ID, newEventId()) ?? '';
  const response = await fetch(`${origin}/api${pathname}/envelope/?sentry_key=${username}`, { method: 'POST', body });
  await response.text();
  return response.status;
}

function frames(bytes: number): object[] {
  return Array.from({ length: bytes / 900 }, (_, index) => ({
    function: `fn${index}$$Lambda$aaaa lambda$b$1 <a>b__1 `.padEnd(250, 'x'),
    module: `mod${index}.0123456789abcdef0.`.padEnd(250, 'x'),
    filename: `${`/a/b${index}/0123456789abcdef-0123.abcd.`.padEnd(300, 'x')}.js`,
  }));
}

async function sendBomb(dsn: string, body: Buffer): Promise<number> {
  const { origin, username, pathname } = new URL(dsn);
  const response = await fetch(`${origin}/api${pathname}/envelope/?sentry_key=${username}`, {
    method: 'POST',
    headers: { 'content-encoding': 'gzip' },
    body: new Uint8Array(body),
    signal: AbortSignal.timeout(30_000),
  });
  await response.text();
  if (response.status === 429) await delay(200);
  return response.status;
}
