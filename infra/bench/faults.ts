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
import { listArrived } from './paging/arrived.ts';
import { alertOnExceptions, createPost, hireTeam, openRunningDatabase, type Post } from './paging/crowd.ts';
import { countPages, isAllDone, PageWatch, type TakenPages } from './paging/pages.ts';
import { measureRecovery, RECOVERIES_MAX, type Recovery } from './paging/recovery.ts';
import { isRedisInstalled, redisService } from './paging/redis.ts';
import { newEventId, sendUntilTaken } from './paging/sender.ts';
import { Victims } from './paging/victims.ts';
import { seeded } from './seeded.ts';

const KILLS = 200;
const INCIDENTS = 500;
/** Each has two people of its own and gets so few incidents that nobody's messages need be bundled. */
const POSTS = 120;
const OPENING_MS = 150_000;
const KILL_EVERY_MS = 1_000;
const GIVEN_UP_AFTER_MS = 200_000;
/** Without it, so many deaths in a row would soon make every restart wait ten seconds. */
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
  const victims = new Victims();
  const work = (installation: BenchInstallation) => torment(installation, queue, victims, seeded(seed));
  const options = { report: (progress: Progress) => victims.note(progress), backOff: AT_ONCE };
  if (queue === 'PostgreSQL') return await withInstallation(work, options);
  await withFolder(async (folder) => {
    const port = await findFreePort(0);
    const redis = supervise(redisService(folder, port), (event) => victims.note(event), AT_ONCE);
    await redis.ready;
    try {
      await withInstallation(work, { ...options, variables: { REDIS_URL: `redis://127.0.0.1:${port}` } });
    } finally {
      await redis.stop(1_000);
    }
  });
}

async function torment(
  installation: BenchInstallation,
  queue: QueueName,
  victims: Victims,
  random: () => number,
): Promise<void> {
  const db = await openRunningDatabase(installation.dataDir);
  try {
    const { posts, probed } = await prepare(installation, db);
    const watch = new PageWatch(installation.phoneUrl);
    const opening = openAll(posts);
    for (let kills = 0; kills < KILLS;) {
      await delay(random() * 2 * KILL_EVERY_MS);
      const { running } = victims;
      const victim = running[Math.floor(random() * running.length)];
      if (victim !== undefined) {
        victims.kill(victim);
        kills += 1;
      }
      await watch.look();
    }
    const lastKillAt = performance.now();
    const accepted = await opening;
    const allThereMs = await untilAllThere(db, lastKillAt);
    const recoveries = await measureRecovery({ ...installation, db, posts: probed, watch, victims });
    const probes = recoveries.flatMap(({ eventIds }) => eventIds);
    await untilDone(db, watch);
    const outcome = { queue, db, victims, accepted: accepted.union(new Set(probes)), allThereMs };
    await printOutcome(installation, { ...outcome, taken: await watch.look() });
    printRecovery(recoveries);
  } finally {
    await db.close();
  }
}

interface Outcome {
  readonly queue: QueueName;
  readonly db: Database;
  readonly victims: Victims;
  readonly accepted: ReadonlySet<string>;
  /** From the last kill. */
  readonly allThereMs: number;
  readonly taken: TakenPages;
}

async function printOutcome(
  { dataDir }: BenchInstallation,
  { queue, db, victims, accepted, allThereMs, taken }: Outcome,
): Promise<void> {
  const { eventIds } = await listArrived(dataDir);
  const figures = await countPages(db, taken);
  const late = spreadOf(await lateness(db, taken));
  printTable([
    {
      queue,
      kills: [...victims.killed].map(([name, times]) => `${name} ${times}`).join(', '),
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
  readonly posts: readonly Post[];
  /** Of people whom only the measurements of recovery page, by SMS. */
  readonly probed: readonly Post[];
}

async function prepare(installation: BenchInstallation, db: Database): Promise<Prepared> {
  const client = connect({ ...installation, stop: async () => {} });
  const { teamId, userIds } = await hireTeam(db, client, installation.organizationId, POSTS * 2 + RECOVERIES_MAX);
  const posts: Post[] = [];
  for (let index = 0; index < POSTS; index += 1) {
    const [anna = '', bram = ''] = userIds.slice(index * 2, index * 2 + 2);
    const post = await createPost(client, teamId, `service-${index}`, [
      { afterMinutes: 0, channels: ['sms', 'call'], targetUserIds: [anna] },
      { afterMinutes: 1, channels: ['sms'], targetUserIds: [bram] },
      { afterMinutes: 2, channels: ['call'], targetUserIds: [bram] },
    ]);
    await alertOnExceptions(client, post);
    posts.push(post);
  }
  const probed: Post[] = [];
  for (const userId of userIds.slice(POSTS * 2)) {
    const step = { afterMinutes: 0, channels: ['sms'], targetUserIds: [userId] };
    const post = await createPost(client, teamId, `probed-${probed.length}`, [step]);
    await alertOnExceptions(client, post);
    probed.push(post);
  }
  return { posts, probed };
}

/** Each exception is sent until it is taken, as senders with a queue of their own do. Resolves to the ids of the events. */
async function openAll(posts: readonly Post[]): Promise<Set<string>> {
  const opening: Promise<string>[] = [];
  for (let index = 0; index < INCIDENTS; index += 1) {
    const post = posts[index % POSTS];
    if (post !== undefined) opening.push(sendUntilTaken(post.dsn, `Exception${index}`, newEventId()));
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
        .map((takenMs) => takenMs - dueMs) ?? [],
  );
}
