import { setTimeout as delay } from 'node:timers/promises';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { connect } from '#infra/demo/client.ts';
import { count, spreadCells, spreadOf } from './figures.ts';
import { type Bench, type BenchInstallation, printInputs, printTable, withInstallation } from './harness.ts';
import {
  alertOnExceptions,
  alertOnMetric,
  createPagedService,
  createTeam,
  openRunningDatabase,
  type PagedService,
} from './paging/fixture.ts';
import { type Attack, attack, attackerService, ATTACKS } from './paging/attacks.ts';
import { isAllDone, PageWatch, type TakenPages } from './paging/pages.ts';
import { sendException, type Sending, sendPoint } from './paging/sender.ts';
import type { Database } from '#storage/postgres/database.ts';
import { createCipher } from '#auth/cipher.ts';
import type { Id } from '#kernel/ids.ts';
import { systemClock } from '#kernel/time.ts';
import { sealSettings } from '#modules/places/view.ts';
import { storesOf } from '#modules/stores.ts';

const EXCEPTIONS = 120;
const BREACHES = 60;
/** Each pages a different person, who gets three messages: a fourth within a minute would go into a digest. */
const SERVICES = 60;
const EXCEPTION_EVERY_MS = 150;
/** Not a divisor of the evaluation interval, so that breaches are spread over it. */
const BREACH_EVERY_MS = 470;
const PAGED_WITHIN_MS = 60_000;

/** Sent by another organization during the attack; each pages a different person. */
const UNDER_ATTACK = 40;
const UNDER_ATTACK_EVERY_MS = 900;
/** Time that the attack runs before the first exception is sent. */
const HEAD_START_MS = 3_000;
const GIVEN_UP_AFTER_MS = 120_000;

/** Pairs of passes of the same exceptions, one without and one with a place that hangs; every second pair the other way. */
const PAIRS = 6;
const BESIDE_PLACES = 40;
const BESIDE_PLACES_EVERY_MS = 200;
const HANGING_PLACES = 1;
const PAGED_AFTER_MS = 5_000;
/** Requests that hang are given up after 10 seconds: a pass without begins when the last has ended. */
const HANGING_ENDS_AFTER_MS = 12_000;
/** Student's t for 95 % and `PAIRS - 1` degrees of freedom. */
const T_95 = 2.571;

const APP_SECRET = 'a secret that is long enough for benchmarks';

export const pageLatency: Bench = {
  name: 'page_latency',
  about:
    'from an exception or a breaching point to the request at the SMS provider (goals: exceptions p50 300 ms, p99 1 s; ' +
    'points p50 8 s, p99 16 s; exceptions while another organization attacks: p99 5 s)',
  run: () =>
    withInstallation(
      async (installation) => {
        printInputs({
          exceptions: `${EXCEPTIONS}, each of a new group, one every ${EXCEPTION_EVERY_MS} ms`,
          'breaching points': `${BREACHES}, each of a rule of its own, one every ${BREACH_EVERY_MS} ms`,
          rules: count(SERVICES + BREACHES + BESIDE_PLACES * PAIRS * 2 + UNDER_ATTACK * ATTACKS.length),
          'places that hang': `${HANGING_PLACES}, told of every incident; ${BESIDE_PLACES} exceptions without and with it, ${PAIRS} pairs`,
          ...Object.fromEntries(ATTACKS.map(({ name, about }) => [`attack: ${name}`, about])),
          'during an attack': `${UNDER_ATTACK} exceptions of another organization, one every ${UNDER_ATTACK_EVERY_MS} ms`,
          stores: 'embedded, as durable as in production',
        });
        const db = await openRunningDatabase(installation.dataDir);
        try {
          await measure(installation, db);
          await measureBesidePlaces(installation, db);
          for (const attackKind of ATTACKS) await measureUnder(attackKind, installation, db);
        } finally {
          await db.close();
        }
      },
      { variables: { APP_SECRET, ALLOW_INTERNAL_ADDRESSES: 'true' } },
    ),
};

async function measure(installation: BenchInstallation, db: Database): Promise<void> {
  const services = await prepareServices(installation, db, SERVICES, 'service');
  for (let index = 0; index < BREACHES; index += 1) {
    await alertOnMetric(clientOf(installation), serviceOf(services, index), `metric_${index}`);
  }
  const watch = new PageWatch(installation.phoneUrl);
  const exceptions = await sendAll(EXCEPTIONS, EXCEPTION_EVERY_MS, (index) =>
    sendException(serviceOf(services, index).dsn, `Exception${index}`),
  );
  const points = await sendAll(BREACHES, BREACH_EVERY_MS, (index) => {
    const { ingestionKey } = serviceOf(services, index);
    return sendPoint(installation.baseUrl, ingestionKey, { name: `metric_${index}`, value: 250 });
  });
  await untilPaged(db, EXCEPTIONS + BREACHES);
  const pages = await listPaged(db, await watch.look());
  const pagedAt = new Map(pages.map(({ type, pagedAtMs }) => [type, pagedAtMs]));
  printTable([
    ...rowsOf('exception', exceptions, (index) => pagedAt.get(`Exception${index}`)),
    ...rowsOf('breaching point', points, (index) => pagedAt.get(`metric_${index}`)),
  ]);
}

async function measureBesidePlaces(installation: BenchInstallation, db: Database): Promise<void> {
  const places = await addHangingPlaces(db, { ...installation, appSecret: APP_SECRET }, HANGING_PLACES);
  const without: number[][] = [];
  const withHanging: number[][] = [];
  try {
    for (let pair = 0; pair < PAIRS; pair += 1) {
      for (const isOn of pair % 2 === 0 ? [false, true] : [true, false]) {
        const name = `Beside${pair}${isOn ? 'with' : 'without'}`;
        const services = await prepareServices(installation, db, BESIDE_PLACES, name);
        await places.switch(isOn);
        (isOn ? withHanging : without).push(await pageLatencies(installation, db, services, name));
        if (isOn) {
          await places.switch(false);
          await delay(HANGING_ENDS_AFTER_MS);
        }
      }
    }
  } finally {
    await places.close();
  }
  const differences = withHanging.map((latencies, pair) => meanOf(latencies) - meanOf(without[pair] ?? []));
  console.log(
    `  ${HANGING_PLACES} places that hang took ${count(places.requests())} requests; a page took ` +
      `${meanOf(differences).toFixed(1)} ± ${(T_95 * standardErrorOf(differences)).toFixed(1)} ms longer beside them (95 %)\n`,
  );
  printTable([
    { from: 'exception sent, without', ...spreadCells(spreadOf(without.flat())) },
    { from: 'exception sent, beside places that hang', ...spreadCells(spreadOf(withHanging.flat())) },
  ]);
}

/** Sends exceptions, one of each service, and returns how long after each the provider was asked, in ms. */
async function pageLatencies(
  installation: BenchInstallation,
  db: Database,
  services: readonly PagedService[],
  name: string,
): Promise<number[]> {
  const watch = new PageWatch(installation.phoneUrl);
  const typeOf = (index: number): string => `${name}x${index}`;
  const sendings = await sendAll(services.length, BESIDE_PLACES_EVERY_MS, (index) =>
    sendException(serviceOf(services, index).dsn, typeOf(index)),
  );
  await delay(PAGED_AFTER_MS);
  const pages = await listPaged(db, await watch.look(), `${name}x%`);
  const pagedAt = new Map(pages.map(({ type, pagedAtMs }) => [type, pagedAtMs]));
  return sendings.map(({ startedAtMs }, index) => {
    const at = pagedAt.get(typeOf(index));
    if (at === undefined) throw new Error(`${typeOf(index)} paged nobody`);
    return at - startedAtMs;
  });
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function standardErrorOf(values: readonly number[]): number {
  const mean = meanOf(values);
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1) / values.length);
}

async function measureUnder(kind: Attack, installation: BenchInstallation, db: Database): Promise<void> {
  const services = await prepareServices(installation, db, UNDER_ATTACK, kind.name);
  const { dsn } = await attackerService(installation, db, `attacker-${kind.name}`);
  const watch = new PageWatch(installation.phoneUrl);
  const typeOf = (index: number): string => `Under${kind.name}${index}`;
  const attacking = attack(kind, dsn);
  await delay(HEAD_START_MS);
  const sendings = await sendAll(UNDER_ATTACK, UNDER_ATTACK_EVERY_MS, (index) =>
    sendException(serviceOf(services, index).dsn, typeOf(index)),
  );
  const deadline = performance.now() + GIVEN_UP_AFTER_MS;
  let pages: readonly PagedIncident[] = [];
  while (pages.length < UNDER_ATTACK && performance.now() < deadline) {
    await delay(250);
    pages = await listPaged(db, await watch.look(), `Under${kind.name}%`);
  }
  const statuses = [...(await attacking)].map(([status, times]) => `${status}: ${count(times)}`);
  console.log(
    `  ${kind.name}: ${UNDER_ATTACK - pages.length} of ${UNDER_ATTACK} not paged within ${GIVEN_UP_AFTER_MS / 1_000} s; ` +
      `the attack was answered with ${statuses.join(', ')}\n`,
  );
  if (pages.length === 0) return;
  const sentAt = new Map(sendings.map(({ startedAtMs }, index) => [typeOf(index), startedAtMs]));
  const row = (from: string, startOf: (page: PagedIncident) => number) => {
    return { from, ...spreadCells(spreadOf(pages.map((page) => page.pagedAtMs - startOf(page)))) };
  };
  printTable([
    row(`exception sent, under ${kind.name}`, ({ type, pagedAtMs }) => sentAt.get(type) ?? pagedAtMs),
    row('incident opened', ({ openedAtMs }) => openedAtMs),
  ]);
}

function clientOf(installation: BenchInstallation) {
  return connect({ ...installation, stop: async () => {} });
}

let people = 0;

/** Services with a person each, whose new exceptions page them. */
export async function prepareServices(
  installation: BenchInstallation,
  db: Database,
  number: number,
  name: string,
): Promise<PagedService[]> {
  const client = clientOf(installation);
  const { teamId, userIds } = await createTeam(db, client, installation.organizationId, number, people);
  people += number;
  const services: PagedService[] = [];
  for (const [index, userId] of userIds.entries()) {
    const steps = [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [userId] }];
    const service = await createPagedService(client, teamId, `${name}-${index}`, steps);
    await alertOnExceptions(client, service);
    services.push(service);
  }
  return services;
}

function serviceOf(services: readonly PagedService[], index: number): PagedService {
  const service = services[index % services.length];
  if (service === undefined) throw new Error('there are no services');
  return service;
}

/** One after the other at even distances, whether or not the one before is answered. */
export async function sendAll(
  times: number,
  everyMs: number,
  send: (index: number) => Promise<Sending>,
): Promise<Sending[]> {
  const sendings: Promise<Sending>[] = [];
  for (let index = 0; index < times; index += 1) {
    sendings.push(send(index));
    await delay(everyMs);
  }
  const answered = await Promise.all(sendings);
  const refused = answered.filter(({ status }) => status < 200 || status > 299);
  if (refused.length > 0) throw new Error(`${refused.length} of ${times} were refused`);
  return answered;
}

async function untilPaged(db: Database, incidents: number): Promise<void> {
  const deadline = performance.now() + PAGED_WITHIN_MS;
  while (performance.now() < deadline) {
    const row = await db.sql.row<{ count: number }>('select count(*)::int as count from incidents');
    if (row?.count === incidents && (await isAllDone(db))) return;
    await delay(100);
  }
  throw new Error(`not all of ${incidents} incidents were paged within ${PAGED_WITHIN_MS / 1_000} s`);
}

interface PagedIncident {
  readonly type: string;
  readonly openedAtMs: number;
  /** Time at which the provider was first asked. */
  readonly pagedAtMs: number;
}

export async function listPaged({ sql }: Database, taken: TakenPages, titles = '%'): Promise<PagedIncident[]> {
  const rows = await sql.rows<{ id: string; title: string; openedAtMs: number }>(
    `select n.id, i.title, extract(epoch from i.triggered_at)::float8 * 1000 as "openedAtMs"
     from notifications n join incidents i on i.id = n.incident_id where i.title like $1`,
    [titles],
  );
  return rows.flatMap(({ id, title, openedAtMs }): PagedIncident[] => {
    const [first] = taken.get(id) ?? [];
    return first === undefined ? [] : [{ type: title.split(':')[0] ?? '', openedAtMs, pagedAtMs: first.receivedAtMs }];
  });
}

function rowsOf(what: string, sendings: readonly Sending[], pagedAtOf: (index: number) => number | undefined) {
  const from = (startOf: (sending: Sending) => number): number[] =>
    sendings.map((sending, index) => {
      const pagedAt = pagedAtOf(index);
      if (pagedAt === undefined) throw new Error(`${what} ${index} paged nobody`);
      return pagedAt - startOf(sending);
    });
  return [
    { from: `${what} sent`, ...spreadCells(spreadOf(from(({ startedAtMs }) => startedAtMs))) },
    { from: `${what} answered`, ...spreadCells(spreadOf(from(({ answeredAtMs }) => answeredAtMs))) },
  ];
}

/** Places of one organization, which are told of every incident and never answer. */
interface HangingPlaces {
  readonly requests: () => number;
  switch(isOn: boolean): Promise<void>;
  close(): Promise<void>;
}

/** Adds webhooks to an organization that take each request and never answer it. */
async function addHangingPlaces(
  db: Database,
  { appSecret, organizationId }: { readonly appSecret: string; readonly organizationId: string },
  number: number,
): Promise<HangingPlaces> {
  let requests = 0;
  const server = createServer(() => void (requests += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const sealed = sealSettings(createCipher(appSecret, 'places'), { address, signingSecret: `whsec_${'A'.repeat(32)}` });
  const orgId = organizationId as Id<'org'>;
  const routes = [{ serviceId: null, teamId: null, atLeast: null }];
  const places = await db.transaction(async (session) => {
    const ids: Id<'place'>[] = [];
    for (let index = 0; index < number; index += 1) {
      const place = {
        orgId,
        kind: 'webhook',
        name: `Hangs ${index}`,
        shown: {},
        sealed,
        settingsRole: null,
        routes,
      } as const;
      ids.push((await storesOf(session).places.insert(place, systemClock.now())).id);
    }
    return ids;
  });
  return {
    requests: () => requests,
    async switch(isOn) {
      const { places: store } = storesOf(db.session());
      for (const id of places) await store.save(id, { isOn }, systemClock.now());
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
