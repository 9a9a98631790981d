/** The part of `partition` that runs in the network namespace: the product, its senders, and the counting. */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

import { connect } from '#infra/demo/client.ts';
import type { Database } from '#storage/postgres/database.ts';

import { count, duration } from '#infra/bench/figures.ts';
import { type BenchInstallation, printTable, withInstallation } from '#infra/bench/harness.ts';
import {
  alertOnExceptions,
  createPagedService,
  createTeam,
  openRunningDatabase,
  type PagedService,
} from '#infra/bench/paging/fixture.ts';
import { countPages, isAllDone, PageWatch } from '#infra/bench/paging/pages.ts';
import { havePaged, isWell, until } from '#infra/bench/paging/recovery.ts';
import { newEventId, sendException, sendPoint, sendUntilTaken } from '#infra/bench/paging/sender.ts';
import { listStored } from '#infra/bench/paging/stored.ts';
import { CUT_MS, CUT_STORES, type CutRequest, SEND_EVERY_MS, STORES, type StoreName } from './protocol.ts';

/** Each pages somebody of its own, and has so few incidents that none becomes part of a storm. */
const SERVICES = 60;
const BEFORE_MS = 5_000;
const AFTER_MS = 10_000;

const { DATABASE_URL = '', REDIS_URL = '', CLICKHOUSE_URL = '', APP_SECRET = '' } = process.env;
await withInstallation(measure, { variables: { DATABASE_URL, REDIS_URL, CLICKHOUSE_URL, APP_SECRET } });
process.exit(0);

interface Accepted {
  readonly eventIds: Set<string>;
  readonly values: Set<number>;
}

interface Outcome {
  readonly store: StoreName;
  /** While the link was cut. */
  readonly acceptedMeanwhile: number;
  /** Time since the link was joined again. */
  readonly wellMs: number;
  readonly pagedMs: number;
}

async function measure(installation: BenchInstallation): Promise<void> {
  const db = await openRunningDatabase(installation.dataDir);
  try {
    const services = await prepare(installation, db);
    const watch = new PageWatch(installation.phoneUrl);
    const accepted: Accepted = { eventIds: new Set(), values: new Set() };
    const outcomes: Outcome[] = [];
    for (const [index, store] of CUT_STORES.entries()) {
      outcomes.push(await cutOff(installation, { db, watch, store, index, services, accepted }));
    }
    await until(() => isAllDone(db), 120_000);
    await until(async () => isStored(await listStored(installation.dataDir), accepted), 120_000);
    await delay(2_000);
    const stored = await listStored(installation.dataDir);
    const pages = await countPages(db, await watch.look());
    printTable(
      outcomes.map(({ store, acceptedMeanwhile, wellMs, pagedMs }) => ({
        'cut off from': store,
        'accepted meanwhile': count(acceptedMeanwhile),
        'healthy again after': duration(wellMs),
        'exceptions page again after': duration(pagedMs),
      })),
    );
    printTable([
      {
        'events accepted': count(accepted.eventIds.size),
        lost: count(accepted.eventIds.difference(stored.eventIds).size),
        'counted twice': count(await countedTwice(db, accepted)),
        'points accepted': count(accepted.values.size),
        'lost ': count(accepted.values.difference(stored.values).size),
        incidents: count(pages.incidents),
        'fired twice': count(pages.stepsFiredTwice),
        pages: count(pages.pages),
        'pages lost': count(pages.lost),
        doubled: count(pages.duplicates),
      },
    ]);
  } finally {
    await db.close();
  }
}

interface Cut {
  readonly db: Database;
  readonly watch: PageWatch;
  readonly store: StoreName;
  readonly index: number;
  readonly services: readonly PagedService[];
  readonly accepted: Accepted;
}

async function cutOff(installation: BenchInstallation, cut: Cut): Promise<Outcome> {
  const { db, watch, store, index, services, accepted } = cut;
  const { baseUrl } = installation;
  await until(() => isWell(baseUrl));
  const over = new AbortController();
  const sending = send(installation, cut, over.signal);
  const probed = services[SERVICES + index];
  if (probed === undefined) throw new Error('there are too few services');
  await delay(BEFORE_MS);
  const types = [`Before${store}`, `After${store}`] as const;
  accepted.eventIds.add(await sendUntilTaken(probed.dsn, types[0], newEventId()));
  await setLink({ store, isCut: true });
  const acceptedBefore = accepted.eventIds.size + accepted.values.size;
  await delay(CUT_MS);
  const acceptedMeanwhile = accepted.eventIds.size + accepted.values.size - acceptedBefore;
  await setLink({ store, isCut: false });
  const joinedAt = performance.now();
  const since = async (isReached: () => Promise<boolean>): Promise<number> => {
    await until(isReached);
    return performance.now() - joinedAt;
  };
  const after = sendUntilTaken(probed.dsn, types[1], newEventId());
  const [wellMs, pagedMs] = await Promise.all([
    since(() => isWell(baseUrl)),
    after.then((eventId) => {
      accepted.eventIds.add(eventId);
      return since(() => havePaged({ db, watch }, types));
    }),
  ]);
  await delay(AFTER_MS);
  over.abort();
  await sending;
  return { store, acceptedMeanwhile, wellMs, pagedMs };
}

/** Exceptions of many types and points, without end; each is sent again until it is accepted. */
async function send(
  { baseUrl }: BenchInstallation,
  { watch, store, index, services, accepted }: Cut,
  signal: AbortSignal,
) {
  const underWay: Promise<unknown>[] = [];
  for (let number = 0; !signal.aborted; number += 1) {
    const { dsn, ingestionKey } = services[number % SERVICES] ?? { dsn: '', ingestionKey: '' };
    const type = `${store}Load${Math.floor(number / SERVICES) % 3}`;
    underWay.push(
      keepSending(async (id) => (await sendException(dsn, type, id)).status === 200, newEventId(), accepted.eventIds),
    );
    const value = index * 1_000_000 + number;
    const point = (one: number) =>
      sendPoint(baseUrl, ingestionKey, { name: 'load', value: one, labels: { number: String(one) } });
    underWay.push(keepSending(async (number) => isAccepted((await point(number)).status), value, accepted.values));
    if (number % 20 === 0) await watch.look().catch(() => {});
    await delay(SEND_EVERY_MS);
  }
  await Promise.all(underWay);
}

function isAccepted(status: number): boolean {
  return status >= 200 && status < 300;
}

async function keepSending<One>(isTaken: (one: One) => Promise<boolean>, one: One, into: Set<One>): Promise<void> {
  while (!(await isTaken(one))) await delay(250);
  into.add(one);
}

async function setLink(request: CutRequest): Promise<void> {
  const done = once(process, 'message');
  process.send?.(request);
  await done;
}

function isStored(stored: { eventIds: Set<string>; values: Set<number> }, accepted: Accepted): boolean {
  return accepted.eventIds.isSubsetOf(stored.eventIds) && accepted.values.isSubsetOf(stored.values);
}

async function countedTwice({ sql }: Database, { eventIds }: Accepted): Promise<number> {
  const row = await sql.row<{ events: number }>(
    'select coalesce(sum(events), 0)::int as events from exception_group_counts',
  );
  return Math.max(0, (row?.events ?? 0) - eventIds.size);
}

async function prepare(installation: BenchInstallation, db: Database): Promise<PagedService[]> {
  const client = connect({ ...installation, stop: async () => {} });
  const wanted = SERVICES + STORES.length;
  const { teamId, userIds } = await createTeam(db, client, installation.organizationId, wanted);
  const services: PagedService[] = [];
  for (const [index, userId] of userIds.entries()) {
    const step = { afterMinutes: 0, channels: ['sms'], targetUserIds: [userId] };
    const service = await createPagedService(client, teamId, `service-${index}`, [step]);
    await alertOnExceptions(client, service);
    services.push(service);
  }
  return services;
}
