import { setTimeout as delay } from 'node:timers/promises';

import { connect } from '#infra/demo/client.ts';
import { findFreePort } from '#infra/embedded/free_port.ts';
import type { Progress } from '#infra/embedded/installation.ts';
import { type BackOff, supervise } from '#infra/embedded/supervisor.ts';
import type { Database } from '#storage/postgres/database.ts';

import { count, duration, spreadOf } from './figures.ts';
import {
  type Bench,
  type BenchInstallation,
  printInputs,
  printTable,
  withFolder,
  withInstallation,
} from './harness.ts';
import { listStored } from './paging/stored.ts';
import {
  alertOnExceptions,
  createPagedService,
  createTeam,
  openRunningDatabase,
  type PagedService,
} from './paging/fixture.ts';
import { countPages, isAllDone, PageWatch, type TakenPages } from './paging/pages.ts';
import { measureRecovery, RECOVERIES_MAX, type Recovery } from './paging/recovery.ts';
import { isRedisInstalled, redisService } from './paging/redis.ts';
import { newEventId, sendUntilTaken } from './paging/sender.ts';
import { RunningProcesses } from './paging/processes.ts';
import { seeded } from './seeded.ts';

const KILLS = 200;
const INCIDENTS = 500;
/** Each pages two people of its own, and has so few incidents that no message goes into a digest. */
const SERVICES = 120;
const OPENING_MS = 150_000;
const KILL_EVERY_MS = 1_000;
const GIVEN_UP_AFTER_MS = 200_000;
/** Restart without long waits: the default would soon delay every restart by ten seconds after so many kills. */
const AT_ONCE: BackOff = { firstDelayMs: 50, maxDelayMs: 500, healthyAfterMs: 1_000 };

type QueueName = 'PostgreSQL' | 'Redis';

export const faults: Bench = {
  name: 'faults',
  about:
    'pages while every process is killed again and again (goals: nothing accepted and no page lost, each step fired once, ' +
    'at most one duplicate a kill, recovery within 10 s)',
  minutesMax: 40,
  async run() {
    const seed = Number(process.env['SEED'] ?? 20_261_121);
    const only = process.env['QUEUE'];
    printInputs({
      seed: `${seed} (SEED=… for another; QUEUE=PostgreSQL or QUEUE=Redis for one of both)`,
      kills: `${KILLS} by SIGKILL, one every ${duration(KILL_EVERY_MS)} on average, of a process picked at random`,
      incidents: `${INCIDENTS}, of real exceptions, opened within ${duration(OPENING_MS)}`,
      'steps of each': 'at once SMS and call, after 1 min SMS to somebody else, after 2 min call',
      recovery:
        'then each is killed alone, 3 times: until exceptions of just before and just after have paged somebody',
      stores: 'embedded, as durable as in production; Redis keeps every write',
    });
    const queues: readonly QueueName[] = isRedisInstalled() ? ['PostgreSQL', 'Redis'] : ['PostgreSQL'];
    for (const queue of queues.filter((name) => only === undefined || name === only)) await runOnce(queue, seed);
  },
};

async function runOnce(queue: QueueName, seed: number): Promise<void> {
  const processes = new RunningProcesses();
  const work = (installation: BenchInstallation) => killUnderLoad(installation, queue, processes, seeded(seed));
  const options = { report: (progress: Progress) => processes.note(progress), backOff: AT_ONCE };
  if (queue === 'PostgreSQL') return await withInstallation(work, options);
  await withFolder(async (folder) => {
    const port = await findFreePort(0);
    const redis = supervise(redisService(folder, port), (event) => processes.note(event), AT_ONCE);
    await redis.ready;
    try {
      await withInstallation(work, { ...options, variables: { REDIS_URL: `redis://127.0.0.1:${port}` } });
    } finally {
      await redis.stop(1_000);
    }
  });
}

async function killUnderLoad(
  installation: BenchInstallation,
  queue: QueueName,
  processes: RunningProcesses,
  random: () => number,
): Promise<void> {
  const db = await openRunningDatabase(installation.dataDir);
  try {
    const { services, probed } = await prepare(installation, db);
    const watch = new PageWatch(installation.phoneUrl);
    const opening = openAll(services);
    for (let kills = 0; kills < KILLS;) {
      await delay(random() * 2 * KILL_EVERY_MS);
      const { running } = processes;
      const victim = running[Math.floor(random() * running.length)];
      if (victim !== undefined) {
        processes.kill(victim);
        kills += 1;
      }
      await watch.look();
    }
    const lastKillAt = performance.now();
    const accepted = await opening;
    const allThereMs = await untilAllThere(db, lastKillAt);
    const recoveries = await measureRecovery({ ...installation, db, services: probed, watch, processes });
    const probes = recoveries.flatMap(({ eventIds }) => eventIds);
    await untilDone(db, watch);
    const outcome = { queue, db, processes, accepted: accepted.union(new Set(probes)), allThereMs };
    await printOutcome(installation, { ...outcome, taken: await watch.look() });
    printRecovery(recoveries);
  } finally {
    await db.close();
  }
}

interface Outcome {
  readonly queue: QueueName;
  readonly db: Database;
  readonly processes: RunningProcesses;
  readonly accepted: ReadonlySet<string>;
  /** Time since the last kill. */
  readonly allThereMs: number;
  readonly taken: TakenPages;
}

async function printOutcome(
  { dataDir }: BenchInstallation,
  { queue, db, processes, accepted, allThereMs, taken }: Outcome,
): Promise<void> {
  const { eventIds } = await listStored(dataDir);
  const figures = await countPages(db, taken);
  const late = spreadOf(await lateness(db, taken));
  printTable([
    {
      queue,
      kills: [...processes.killed].map(([name, times]) => `${name} ${times}`).join(', '),
      'events accepted': count(accepted.size),
      'of them stored': count(eventIds.intersection(accepted).size),
      'others stored': count(eventIds.difference(accepted).size),
      incidents: count(figures.incidents),
      'all there after the last kill': duration(allThereMs),
    },
  ]);
  printTable([
    {
      queue,
      steps: count(figures.steps),
      'not fired': count(figures.stepsNotFired),
      'fired twice': count(figures.stepsFiredTwice),
      pages: count(figures.pages),
      'in digests': count(figures.inDigests),
      lost: count(figures.lost),
      duplicates: count(figures.duplicates),
      'late: p50': duration(late.p50),
      p99: duration(late.p99),
      max: duration(late.max),
    },
  ]);
}

function printRecovery(recoveries: readonly Recovery[]): void {
  printTable(
    [...Map.groupBy(recoveries, ({ victim }) => victim)].map(([victim, group]) => ({
      killed: victim,
      times: count(group.length),
      'ready again: max': duration(Math.max(...group.map(({ readyMs }) => readyMs))),
      'exceptions page again: p50': duration(spreadOf(group.map(({ pagedMs }) => pagedMs)).p50),
      max: duration(Math.max(...group.map(({ pagedMs }) => pagedMs))),
    })),
  );
}

interface Prepared {
  readonly services: readonly PagedService[];
  /** Services that only the measurement of recovery uses; each pages one person by SMS. */
  readonly probed: readonly PagedService[];
}

async function prepare(installation: BenchInstallation, db: Database): Promise<Prepared> {
  const client = connect({ ...installation, stop: async () => {} });
  const { teamId, userIds } = await createTeam(db, client, installation.organizationId, SERVICES * 2 + RECOVERIES_MAX);
  const services: PagedService[] = [];
  for (let index = 0; index < SERVICES; index += 1) {
    const [anna = '', bram = ''] = userIds.slice(index * 2, index * 2 + 2);
    const service = await createPagedService(client, teamId, `service-${index}`, [
      { afterMinutes: 0, channels: ['sms', 'call'], targetUserIds: [anna] },
      { afterMinutes: 1, channels: ['sms'], targetUserIds: [bram] },
      { afterMinutes: 2, channels: ['call'], targetUserIds: [bram] },
    ]);
    await alertOnExceptions(client, service);
    services.push(service);
  }
  const probed: PagedService[] = [];
  for (const userId of userIds.slice(SERVICES * 2)) {
    const step = { afterMinutes: 0, channels: ['sms'], targetUserIds: [userId] };
    const service = await createPagedService(client, teamId, `probed-${probed.length}`, [step]);
    await alertOnExceptions(client, service);
    probed.push(service);
  }
  return { services, probed };
}

/** Each exception is sent until it is taken, as senders with a queue of their own do. Resolves to the ids of the events. */
async function openAll(services: readonly PagedService[]): Promise<Set<string>> {
  const opening: Promise<string>[] = [];
  for (let index = 0; index < INCIDENTS; index += 1) {
    const service = services[index % SERVICES];
    if (service !== undefined) opening.push(sendUntilTaken(service.dsn, `Exception${index}`, newEventId()));
    await delay(OPENING_MS / INCIDENTS);
  }
  return new Set(await Promise.all(opening));
}

/** Milliseconds until every exception has become an incident, or until it takes too long. */
async function untilAllThere({ sql }: Database, since: number): Promise<number> {
  const areAllThere = async (): Promise<boolean> => {
    const row = await sql.row<{ count: number }>('select count(*)::int as count from incidents');
    return row !== null && row.count >= INCIDENTS;
  };
  while (performance.now() - since < GIVEN_UP_AFTER_MS && !(await areAllThere().catch(() => false))) await delay(100);
  return performance.now() - since;
}

/** Resolves once every step has fired and every message has left; or when it takes too long. */
async function untilDone(db: Database, watch: PageWatch): Promise<void> {
  const deadline = performance.now() + GIVEN_UP_AFTER_MS;
  while (performance.now() < deadline && !(await isAllDone(db).catch(() => false))) {
    await watch.look();
    await delay(250);
  }
}

/** Milliseconds from the time a step is due to the provider's first request, for each page. */
async function lateness({ sql }: Database, taken: TakenPages): Promise<number[]> {
  const pages = await sql.rows<{ id: string; dueMs: number }>(
    `select n.id, extract(epoch from s.due_at)::float8 * 1000 as "dueMs"
     from notifications n join incident_steps s on s.incident_id = n.incident_id and s.step_index = n.step_index`,
  );
  return pages.flatMap(
    ({ id, dueMs }) =>
      taken
        .get(id)
        ?.slice(0, 1)
        .map(({ receivedAtMs }) => receivedAtMs - dueMs) ?? [],
  );
}
