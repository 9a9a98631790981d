import { expect, onTestFinished, test } from 'vitest';

import { listStored } from '#infra/bench/paging/stored.ts';
import {
  alertOnExceptions,
  createPagedService,
  createTeam,
  openRunningDatabase,
  type PagedService,
} from '#infra/bench/paging/fixture.ts';
import { countPages, isAllDone, PageWatch } from '#infra/bench/paging/pages.ts';
import { newEventId, type Sending, sendException, sendPoint } from '#infra/bench/paging/sender.ts';
import { connect } from '#infra/demo/client.ts';
import { findFreePort } from '#infra/embedded/free_port.ts';
import { Installation } from '#infra/embedded/installation.ts';
import { loadConfig } from '#entry/config.ts';
import type { Database } from '#storage/postgres/database.ts';
import { makeFolder } from '#test/faults/folder.ts';
import { wipeQueue } from '#test/faults/wipe_queue.ts';

const VICTIMS = ['PostgreSQL', 'ClickHouse', 'API', 'Worker', 'Pager'] as const;
/** Each has a person of its own and gets three incidents: nobody gets so many messages that they would become a digest. */
const SERVICES = 10;
const GROUPS = SERVICES * 2;
/** Far more than it takes: a busy machine must not fail the test, and `npm run bench -- faults` tells how long it is. */
const TIMEOUT_MS = 90_000;

test('nothing accepted is lost and every page leaves though stores and processes are killed under load', async () => {
  const setup = await startSetup();
  const load = startLoad(setup);
  for (const victim of VICTIMS) {
    await load.acceptMore();
    await killAndAwait(setup, victim);
  }
  await load.acceptMore();
  const accepted = await load.stop();
  expect(accepted.eventIds.size).toBeGreaterThan(50);
  expect(accepted.values.size).toBeGreaterThan(50);
  await expect
    .poll(() => missingFrom(setup, accepted), { timeout: TIMEOUT_MS, interval: 250 })
    .toEqual({ events: [], values: [], incidents: [] });
  await expectAllPaged(setup);

  const before = await countIncidents(setup);
  await setup.slowPhones(200);
  for (const [index, { dsn }] of setup.services.entries()) {
    expect(await sendException(dsn, `Wiped${index}`)).toMatchObject({ status: 200 });
  }
  await expect.poll(() => countIncidents(setup), { timeout: TIMEOUT_MS, interval: 5 }).toBe(before + SERVICES);
  await wipeQueue(setup.db);
  await expectAllPaged(setup);
}, 300_000);

interface Setup {
  readonly baseUrl: string;
  readonly dataDir: string;
  readonly services: readonly PagedService[];
  readonly db: Database;
  readonly watch: PageWatch;
  slowPhones(byMs: number): Promise<void>;
  /** The process of this service that is ready now, or null while it is being started again. */
  pidOf(service: string): number | null;
}

async function startSetup(): Promise<Setup> {
  const dataDir = makeFolder();
  const variables = { DATA_DIR: dataDir, PORT: String(await findFreePort(0)), LOG_LEVEL: 'silent' };
  const pids = new Map<string, number | null>();
  const cache = { NODE_COMPILE_CACHE: 'node_modules/.cache/node' };
  const environment = { PATH: process.env['PATH'], PHONE_DELAY_MS: '5', ...cache, ...variables };
  const installation = new Installation(
    loadConfig(variables),
    environment,
    (progress) => {
      if (progress.kind === 'ready') pids.set(progress.service, progress.pid);
      if (progress.kind === 'died') pids.set(progress.service, null);
    },
    { isDurable: false },
  );
  onTestFinished(() => installation.stop());
  const { apiUrl: baseUrl, phoneUrl, firstRun } = await installation.start();
  if (phoneUrl === null || firstRun === null) throw new Error('the installation is not new');
  const db = await openRunningDatabase(dataDir);
  onTestFinished(() => db.close());
  const client = connect({ ...firstRun, baseUrl, phoneUrl, stop: async () => {} });
  const { teamId, userIds } = await createTeam(db, client, firstRun.organizationId, SERVICES);
  const services = [];
  for (const [index, userId] of userIds.entries()) {
    const channels = ['sms', 'call'];
    const service = await createPagedService(client, teamId, `service-${index}`, [
      { afterMinutes: 0, channels, targetUserIds: [userId] },
    ]);
    await alertOnExceptions(client, service);
    services.push(service);
  }
  return {
    baseUrl,
    dataDir,
    services,
    db,
    watch: new PageWatch(phoneUrl),
    pidOf: (name) => pids.get(name) ?? null,
    async slowPhones(byMs) {
      const body = JSON.stringify({ kind: 'slow', byMs });
      await fetch(`${phoneUrl}/phone/api/faults`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
    },
  };
}

/** Data that the service confirmed to senders. */
interface Accepted {
  readonly eventIds: Set<string>;
  /** Each is a group of its own, so each is to page somebody. */
  readonly types: Set<string>;
  readonly values: Set<number>;
}

const SEND_EVERY_MS = 25;
const EVENTS_OF_A_GROUP = 20;

/** Number of exceptions and points that are accepted between two kills. */
const ACCEPTED_BETWEEN_KILLS = 20;

interface Load {
  /** Resolves when enough has been accepted since the call. */
  acceptMore(): Promise<void>;
  stop(): Promise<Accepted>;
}

/** Sends exceptions and points without end; what is refused is not sent again. */
function startLoad({ services, baseUrl }: Setup): Load {
  const accepted: Accepted = { eventIds: new Set(), types: new Set(), values: new Set() };
  const under = new Set<Promise<void>>();
  let sent = 0;
  const send = async (number: number): Promise<void> => {
    const group = Math.floor(number / EVENTS_OF_A_GROUP) % GROUPS;
    const service = services[group % SERVICES];
    if (service === undefined) return;
    const eventId = newEventId();
    const [event, point] = await Promise.all([
      sendException(service.dsn, `Load${group}`, eventId),
      sendPoint(baseUrl, service.ingestionKey, { name: 'load', value: number, labels: { number: String(number) } }),
    ]);
    if (isOk(event)) accepted.eventIds.add(eventId);
    if (isOk(event)) accepted.types.add(`Load${group}`);
    if (isOk(point)) accepted.values.add(number);
  };
  const timer = setInterval(() => {
    const sending = send((sent += 1)).finally(() => under.delete(sending));
    under.add(sending);
  }, SEND_EVERY_MS);
  const acceptedOfEach = () => Math.min(accepted.eventIds.size, accepted.values.size);
  return {
    async acceptMore() {
      const enough = acceptedOfEach() + ACCEPTED_BETWEEN_KILLS;
      await expect.poll(acceptedOfEach, { timeout: TIMEOUT_MS, interval: 25 }).toBeGreaterThanOrEqual(enough);
    },
    async stop() {
      clearInterval(timer);
      await Promise.all(under);
      return accepted;
    },
  };
}

const isOk = ({ status }: Sending): boolean => status >= 200 && status < 300;

/** Kills a process, and waits until the service is ready again, every store answers, and no page is late. */
async function killAndAwait({ baseUrl, pidOf }: Setup, victim: string): Promise<void> {
  const pid = pidOf(victim);
  if (pid === null) throw new Error(`${victim} does not run`);
  process.kill(pid, 'SIGKILL');
  const health = async (): Promise<string> => {
    if (pidOf(victim) === null || pidOf(victim) === pid) return `${victim} does not run again`;
    return await fetch(`${baseUrl}/healthz`)
      .then(async (answer) => (answer.ok ? 'well' : `after ${victim} was killed: ${await answer.text()}`))
      .catch(String);
  };
  await expect.poll(health, { timeout: TIMEOUT_MS, interval: 50 }).toBe('well');
}

/** Returns the accepted data that has not arrived. */
async function missingFrom({ dataDir, db }: Setup, { eventIds, values, types }: Accepted) {
  const arrived = await listStored(dataDir);
  return {
    events: missing(eventIds, arrived.eventIds),
    values: missing(values, arrived.values),
    incidents: missing(types, await titles(db)),
  };
}

const missing = <Value>(wanted: ReadonlySet<Value>, present: ReadonlySet<Value>) => [...wanted.difference(present)];

async function titles({ sql }: Database): Promise<Set<string>> {
  const rows = await sql.rows<{ title: string }>('select title from incidents');
  return new Set(rows.map(({ title }) => title.split(':')[0] ?? ''));
}

async function countIncidents({ db }: Setup): Promise<number> {
  const row = await db.sql.row<{ count: number }>('select count(*)::int as count from incidents');
  return row?.count ?? 0;
}

async function expectAllPaged({ db, watch }: Setup): Promise<void> {
  await expect.poll(() => isAllDone(db), { timeout: TIMEOUT_MS, interval: 100 }).toBe(true);
  const figures = await countPages(db, await watch.look());
  expect(figures).toMatchObject({ stepsNotFired: 0, stepsFiredTwice: 0, lost: 0, pages: figures.incidents * 2 });
  expect(figures.duplicates).toBeLessThanOrEqual(VICTIMS.length);
}
