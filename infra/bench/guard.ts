import { once } from 'node:events';
import os from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

import { issueApiKey } from '#auth/api_keys.ts';
import { type Client, connect } from '#infra/demo/client.ts';
import { systemClock } from '#kernel/time.ts';
import type { Database } from '#storage/postgres/database.ts';
import { storesOf } from '#modules/stores.ts';
import { count, megabytes, spreadCells, spreadOf } from './figures.ts';
import {
  LARGE_MAP_BYTES,
  LARGE_MAPS,
  MEGABYTES_OF_BOMB,
  MEGABYTES_OF_EVENT,
  repeat,
  RULES,
  SHARED_ENTRIES,
  SHARED_MAP_BYTES,
} from '#infra/bench/guard/attacker.ts';
import { type Bench, type BenchInstallation, printInputs, printTable, withInstallation } from './harness.ts';
import { listPaged, prepareServices, sendAll } from './page_latency.ts';
import { alertOnMetric, openRunningDatabase, type PagedService } from './paging/fixture.ts';
import { PageWatch } from './paging/pages.ts';
import { countProcessorBelow, residentOf } from './paging/processes.ts';
import { sendException, sendPoint } from './paging/sender.ts';

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

export const guard: Bench = {
  name: 'guard',
  about:
    'everything that one organization can make long, at once, and a bystander of another one (goals: exception → provider ' +
    'p99 1 s, breach → provider p99 8 s, reads p99 300 ms, mail 5 s, worker 500 MB)',
  run: async () => {
    printInputs({
      uploads: `2 of ${count(SHARED_ENTRIES)} names for a map of ${megabytes(SHARED_MAP_BYTES)}, 1 of ${LARGE_MAPS} maps of ${megabytes(LARGE_MAP_BYTES)}`,
      events: `5 a second by the DSN, each of which names ${LARGE_MAPS} maps, and 5 of ${MEGABYTES_OF_EVENT} MB that take long to read and to group`,
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
  attacker?.attack();
  if (isAttacked) await delay(HEAD_START_MS);
  const memory = watchWorker(stopping.signal);
  const processor = countProcessorBelow(process.pid);
  const machine = countProcessorOfMachine();
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
  const busy = processorLine(processor(), machine());
  stopping.abort();
  await looking;
  const of = (what: string, prefix: string, wanted: number) => {
    const delays = lateness.filter(({ type }) => type.startsWith(prefix)).map(({ ms }) => ms);
    return {
      [name]: `${what} (${delays.length} of ${wanted})`,
      ...spreadCells(spreadOf(delays.length > 0 ? delays : [NaN])),
    };
  };
  printTable([
    of('exception → provider', `Seen${name}`, EXCEPTIONS),
    of('breach → provider', `${name}_`, BREACHES),
    { [name]: `read (${count(reads.length)})`, ...spreadCells(spreadOf(reads)) },
    { [name]: `mail (${mails.length} of ${MAILS})`, ...spreadCells(spreadOf(mails.length > 0 ? mails : [NaN])) },
  ]);
  console.log(`  worker: ${megabytes(Math.max(...(await memory)))} at most; ${busy}\n`);
  if (attacker !== null) printTable(await attacker.stop());
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
  await repeat(signal, 1_000, async () => void seen.push(residentOf(process.pid, 'Worker')));
  return seen;
}

/** Shares of one processor by kind of process, and of everybody else on the machine. */
function processorLine(spent: ReadonlyMap<string, number>, machine: { busyMs: number; elapsedMs: number }): string {
  const total = [...spent.values()].reduce((sum, ms) => sum + ms, 0);
  const kinds = [...spent, ['others', machine.busyMs - total] as const].map(
    ([name, ms]) => `${name} ${(ms / machine.elapsedMs).toFixed(2)}`,
  );
  return `of a processor: ${kinds.join(', ')}`;
}

/** Returns what all processors of the machine did from now on. */
function countProcessorOfMachine(): () => { busyMs: number; elapsedMs: number } {
  const busy = (): number =>
    os.cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
  const [busyBefore, began] = [busy(), performance.now()];
  return () => ({ busyMs: busy() - busyBefore, elapsedMs: performance.now() - began });
}

/** Another organization, with a key of its own and large source maps that are stored already; in a thread of its own. */
async function prepareAttacker({ baseUrl }: BenchInstallation, db: Database): Promise<Attacker> {
  const now = systemClock.now();
  const { key } = await db.transaction(async (session) => {
    const stores = storesOf(session);
    const { id: orgId } = await stores.people.insertOrganization('intruder', now);
    return await issueApiKey(stores, { orgId, userId: null, name: 'intruder', permissions: null }, now);
  });
  const thread = new Worker(new URL('guard/attacker_thread.ts', import.meta.url), { workerData: { baseUrl, key } });
  await once(thread, 'message');
  return {
    attack: () => thread.postMessage('attack', []),
    async stop() {
      const answered = once(thread, 'message');
      thread.postMessage('stop', []);
      const [outcome] = (await answered) as [Record<string, string>[]];
      await thread.terminate();
      return outcome;
    },
  };
}

interface Attacker {
  attack(): void;
  /** Resolves to how the requests of the attack ended, a row for each kind. */
  stop(): Promise<Record<string, string>[]>;
}

interface MailSink {
  /** Value for the setting SMTP_URL. */
  readonly url: string;
  /** Times at which mails arrived, in milliseconds since 1970. */
  readonly arrivedAtMs: readonly number[];
  close(): void;
}

/** A mail server that takes everything. */
async function openMailSink(): Promise<MailSink> {
  const arrivedAtMs: number[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData(stream, _session, done) {
      stream.resume();
      stream.once('end', () => {
        arrivedAtMs.push(Date.now());
        done();
      });
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  return { url: `smtp://127.0.0.1:${port}`, arrivedAtMs, close: () => server.close() };
}
