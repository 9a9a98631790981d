import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

import { issueApiKey } from '#auth/api_keys.ts';
import { type Client, connect } from '#infra/demo/client.ts';
import { systemClock } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { storesOf } from '#storage/postgres/stores.ts';

import { count, megabytes, spreadCells, spreadOf } from './figures.ts';
import { debugIdOf, largeMapsUpload, sharedMapUpload, Uploader } from './guard/heavy_uploads.ts';
import { newSelector } from './guard/long_patterns.ts';
import { type MailSink, openMailSink } from './guard/mail_sink.ts';
import { type Bench, type BenchInstallation, printInputs, printTable, withInstallation } from './harness.ts';
import { listPaged, prepareServices, sendAll } from './page_latency.ts';
import { alertOnMetric, openRunningDatabase, type PagedService } from './paging/fixture.ts';
import { PageWatch } from './paging/pages.ts';
import { useBelow } from './paging/processes.ts';
import { newEventId, sendException, sendPoint } from './paging/sender.ts';

const SECONDS = 60;
const EXCEPTIONS = 30;
const EXCEPTION_EVERY_MS = 1_700;
const BREACHES = 15;
const BREACH_EVERY_MS = 3_100;
const READ_EVERY_MS = 100;
const MAILS = 8;
const MAIL_EVERY_MS = 6_000;
const HEAD_START_MS = 5_000;
const GIVEN_UP_AFTER_MS = 60_000;

const SHARED_ENTRIES = 5_000;
const SHARED_MAP_BYTES = 4 * 1024 * 1024;
const LARGE_MAPS = 20;
const LARGE_MAP_BYTES = 24 * 1024 * 1024;
const RULES = 150;
const MEGABYTES_OF_BOMB = 110;

export const guard: Bench = {
  name: 'guard',
  about:
    'everything that one organization can make long, at once, and a bystander of another one (goals: exception → provider ' +
    'p99 1 s, breach → provider p99 8 s, reads p99 300 ms, mail 5 s, worker 500 MB)',
  run: async () => {
    printInputs({
      uploads: `2 of ${count(SHARED_ENTRIES)} names for a map of ${megabytes(SHARED_MAP_BYTES)}, 1 of ${LARGE_MAPS} maps of ${megabytes(LARGE_MAP_BYTES)}`,
      events: `5 a second by the DSN, each of which names ${LARGE_MAPS} maps`,
      patterns: `${RULES} rules and 4 queries at a time, each with 7 new patterns of 190 characters`,
      bodies: `10 at a time by the DSN that unpack to ${MEGABYTES_OF_BOMB} MB`,
      bystander: `${EXCEPTIONS} exceptions, ${BREACHES} breaches, a read every ${READ_EVERY_MS} ms, ${MAILS} mails`,
    });
    const mail = await openMailSink();
    const variables = {
      SMTP_URL: mail.url,
      MAIL_FROM: 'tocsin@example.com',
      LIMIT_PASSWORD_RESETS_OF_ADDRESS: '1000',
      LIMIT_PASSWORD_RESETS_OF_ACCOUNT: '100',
    };
    try {
      await withInstallation(
        async (installation) => {
          const db = await openRunningDatabase(installation.dataDir);
          try {
            for (const isAttacked of [false, true]) await measure(installation, db, mail, isAttacked);
          } finally {
            await db.close();
          }
        },
        { variables },
      );
    } finally {
      mail.close();
    }
  },
};

async function measure(
  installation: BenchInstallation,
  db: Database,
  mail: MailSink,
  isAttacked: boolean,
): Promise<void> {
  const name = isAttacked ? 'attacked' : 'calm';
  const client = connect({ ...installation, stop: async () => {} });
  const services = await prepareServices(installation, db, BREACHES, name);
  const metricOf = (index: number): string => `${name}_${index}`;
  for (const [index, service] of services.entries()) await alertOnMetric(client, service, metricOf(index));
  const stopping = new AbortController();
  const attacker = isAttacked ? await prepareAttacker(installation, db) : null;
  const attacking = attacker?.attack(stopping.signal);
  if (isAttacked) await delay(HEAD_START_MS);
  const memory = watchWorker(stopping.signal);
  const watch = new PageWatch(installation.phoneUrl);
  const looking = repeat(stopping.signal, 500, () => watch.look());
  const [exceptions, breaches, reads, mails] = await Promise.all([
    sendAll(EXCEPTIONS, EXCEPTION_EVERY_MS, (index) =>
      sendException(serviceOf(services, index).dsn, `Seen${name}${index}`),
    ),
    sendAll(BREACHES, BREACH_EVERY_MS, (index) => {
      const { ingestionKey } = serviceOf(services, index);
      return sendPoint(installation.baseUrl, ingestionKey, { name: metricOf(index), value: 250 });
    }),
    readAgainAndAgain(client),
    askForMails(installation, mail),
  ]);
  const sentAt = new Map([
    ...exceptions.map(({ startedAtMs }, index) => [`Seen${name}${index}`, startedAtMs] as const),
    ...breaches.map(({ startedAtMs }, index) => [metricOf(index), startedAtMs] as const),
  ]);
  const lateness = await untilPaged(db, watch, sentAt);
  stopping.abort();
  await Promise.all([looking, attacking]);
  const of = (what: string, prefix: string, wanted: number) => {
    const found = lateness.filter(({ type }) => type.startsWith(prefix)).map(({ ms }) => ms);
    return {
      [name]: `${what} (${found.length} of ${wanted})`,
      ...spreadCells(spreadOf(found.length > 0 ? found : [NaN])),
    };
  };
  printTable([
    of('exception → provider', `Seen${name}`, EXCEPTIONS),
    of('breach → provider', `${name}_`, BREACHES),
    { [name]: `read (${count(reads.length)})`, ...spreadCells(spreadOf(reads)) },
    { [name]: `mail (${mails.length} of ${MAILS})`, ...spreadCells(spreadOf(mails.length > 0 ? mails : [NaN])) },
  ]);
  console.log(`  worker: ${megabytes(Math.max(...(await memory)))} at most\n`);
  if (attacker !== null) printTable(await attacker.outcome());
}

function serviceOf(services: readonly PagedService[], index: number): PagedService {
  const service = services[index % services.length];
  if (service === undefined) throw new Error('there are no services');
  return service;
}

async function untilPaged(
  db: Database,
  watch: PageWatch,
  sentAt: ReadonlyMap<string, number>,
): Promise<{ readonly type: string; readonly ms: number }[]> {
  const deadline = performance.now() + GIVEN_UP_AFTER_MS;
  for (;;) {
    const paged = (await listPaged(db, await watch.look())).flatMap(({ type, pagedAtMs }) => {
      const at = sentAt.get(type);
      return at === undefined ? [] : [{ type, ms: pagedAtMs - at }];
    });
    if (paged.length >= sentAt.size || performance.now() > deadline) return paged;
    await delay(250);
  }
}

async function readAgainAndAgain(client: Client): Promise<number[]> {
  const samples: number[] = [];
  const until = performance.now() + SECONDS * 1_000;
  while (performance.now() < until) {
    const began = performance.now();
    await client.action('list_services', {});
    samples.push(performance.now() - began);
    await delay(READ_EVERY_MS);
  }
  return samples;
}

/** One after the other; how long each took to arrive. */
async function askForMails({ baseUrl, email }: BenchInstallation, mail: MailSink): Promise<number[]> {
  const took: number[] = [];
  for (let index = 0; index < MAILS; index += 1) {
    const before = mail.arrivedAtMs.length;
    const askedAt = Date.now();
    await fetch(`${baseUrl}/api/console/password-resets`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: baseUrl },
      body: JSON.stringify({ email }),
    });
    while (mail.arrivedAtMs.length === before && Date.now() - askedAt < 3 * MAIL_EVERY_MS) await delay(20);
    const arrivedAt = mail.arrivedAtMs[before];
    if (arrivedAt !== undefined) took.push(arrivedAt - askedAt);
    await delay(Math.max(0, askedAt + MAIL_EVERY_MS - Date.now()));
  }
  return took;
}

async function watchWorker(signal: AbortSignal): Promise<number[]> {
  const seen: number[] = [0];
  await repeat(signal, 1_000, async () => {
    seen.push(useBelow(process.pid).find(({ name }) => name === 'Worker')?.residentBytes ?? 0);
  });
  return seen;
}

async function repeat(signal: AbortSignal, everyMs: number, work: () => Promise<unknown>): Promise<void> {
  while (!signal.aborted) {
    await work().catch(() => {});
    await delay(everyMs);
  }
}

interface Attacker {
  attack(signal: AbortSignal): Promise<void>;
  /** Returns how the requests of the attack itself ended, a row for each kind. */
  outcome(): Promise<Record<string, string>[]>;
}

/** Another organization, with a key of its own and large source maps that are stored already. */
async function prepareAttacker(installation: BenchInstallation, db: Database): Promise<Attacker> {
  const now = systemClock.now();
  const { key } = await db.transaction(async (session) => {
    const stores = storesOf(session);
    const { id: orgId } = await stores.people.insertOrganization('intruder', now);
    return await issueApiKey(stores, { orgId, userId: null, name: 'intruder', permissions: null }, now);
  });
  const client = connect({ ...installation, apiKey: key, stop: async () => {} });
  const service = await client.action<{ serviceId: string; dsn: string }>('create_service', { name: 'intruder' });
  for (const capability of ['metrics', 'exceptions', 'oncall']) {
    await client.action('enable_capability', { serviceId: service.serviceId, capability });
  }
  const uploader = new Uploader(installation, key, 'intruder', 'intruder');
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
        ...several(4, 0, () =>
          noted('queries', () =>
            client.action('query_metric', {
              serviceId: service.serviceId,
              metricName: newSelector('cpu', next()),
              windowMinutes: 60,
            }),
          ),
        ),
        ...several(10, 0, () => noted('bodies', () => sendBomb(service.dsn, bomb))),
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
