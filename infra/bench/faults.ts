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
import { alertOnExceptions, createPost, hireTeam, openRunningDatabase, type Post } from './paging/crowd.ts';
import { countPages, isAllDone, PageWatch, type TakenPages } from './paging/pages.ts';
import { isRedisInstalled, redisService } from './paging/redis.ts';
import { newEventId, sendException } from './paging/sender.ts';

const KILLS = 200;
const INCIDENTS = 500;
/** Each has two people of its own and gets so few incidents that nobody's messages are bundled. */
const POSTS = 120;
const OPENING_MS = 150_000;
const KILL_EVERY_MS = 1_000;
const GIVEN_UP_AFTER_MS = 300_000;
/** Without it, so many deaths in a row would soon make every restart wait ten seconds. */
const AT_ONCE: BackOff = { firstDelayMs: 50, maxDelayMs: 500, wellAfterMs: 1_000 };

export const faults: Bench = {
  name: 'faults',
  about:
    'pages while every process is killed again and again (goals: no page lost, each step fired once, at most one ' +
    'duplicate a kill)',
  async run() {
    printInputs({
      kills: `${KILLS} by SIGKILL, one every ${duration(KILL_EVERY_MS)} on average, of a process picked at random`,
      incidents: `${INCIDENTS}, of real exceptions, opened within ${duration(OPENING_MS)}`,
      'steps of each': 'at once SMS and call, after 1 min SMS to somebody else, after 2 min call',
      stores: 'embedded, as durable as in production; Redis keeps every write',
    });
    const rows = [await runOnce('PostgreSQL')];
    if (isRedisInstalled()) rows.push(await runOnce('Redis'));
    printTable(rows);
  },
};

async function runOnce(queue: 'PostgreSQL' | 'Redis') {
  const victims = new Victims();
  const work = (installation: BenchInstallation) => torment(installation, queue, victims);
  const options = { report: (progress: Progress) => victims.note(progress), backOff: AT_ONCE };
  if (queue === 'PostgreSQL') return await withInstallation(work, options);
  return await withFolder(async (folder) => {
    const port = await findFreePort(0);
    const redis = supervise(redisService(folder, port), (event) => victims.note(event), AT_ONCE);
    await redis.ready;
    try {
      return await withInstallation(work, { ...options, variables: { REDIS_URL: `redis://127.0.0.1:${port}` } });
    } finally {
      await redis.stop(1_000);
    }
  });
}

/** The processes that run now, but the phone simulator: it stands for what is not ours. */
class Victims {
  readonly #pids = new Map<string, number>();
  readonly killed = new Map<string, number>();

  note(progress: Progress): void {
    if (progress.kind === 'ready' && progress.service !== 'Phone simulator') {
      this.#pids.set(progress.service, progress.pid);
    }
    if (progress.kind === 'died') this.#pids.delete(progress.service);
  }

  /** Whether there was one. */
  killOne(): boolean {
    const running = [...this.#pids];
    const victim = running[Math.floor(Math.random() * running.length)];
    if (victim === undefined) return false;
    const [name, pid] = victim;
    this.#pids.delete(name);
    process.kill(pid, 'SIGKILL');
    this.killed.set(name, (this.killed.get(name) ?? 0) + 1);
    return true;
  }
}

async function torment(installation: BenchInstallation, queue: string, victims: Victims) {
  const db = await openRunningDatabase(installation.dataDir);
  try {
    const posts = await prepare(installation, db);
    const watch = new PageWatch(installation.phoneUrl);
    const opening = openAll(posts);
    let kills = 0;
    while (kills < KILLS) {
      await delay(Math.random() * 2 * KILL_EVERY_MS);
      if (victims.killOne()) kills += 1;
      await watch.look();
    }
    await opening;
    await untilDone(db, watch);
    const taken = await watch.look();
    const figures = await countPages(db, taken);
    const late = spreadOf(await lateness(db, taken));
    return {
      queue,
      kills: [...victims.killed].map(([name, times]) => `${name} ${times}`).join(', '),
      incidents: count(figures.incidents),
      'steps fired once': `${count(figures.steps - figures.stepsNotFired - figures.stepsFiredTwice)} of ${count(figures.steps)}`,
      pages: count(figures.pages),
      lost: count(figures.lost),
      duplicates: count(figures.duplicates),
      'late: p50': duration(late.p50),
      p99: duration(late.p99),
      max: duration(late.max),
    };
  } finally {
    await db.close();
  }
}

async function prepare(installation: BenchInstallation, db: Database): Promise<Post[]> {
  const client = connect({ ...installation, stop: async () => {} });
  const { teamId, userIds } = await hireTeam(db, client, installation.organizationId, POSTS * 2);
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
  return posts;
}

/** Each exception is sent until it is taken, as senders with a queue of their own do. */
async function openAll(posts: readonly Post[]): Promise<void> {
  const opening: Promise<void>[] = [];
  for (let index = 0; index < INCIDENTS; index += 1) {
    const post = posts[index % POSTS];
    if (post !== undefined) opening.push(untilTaken(post.dsn, `Exception${index}`));
    await delay(OPENING_MS / INCIDENTS);
  }
  await Promise.all(opening);
}

async function untilTaken(dsn: string, type: string): Promise<void> {
  const eventId = newEventId();
  while ((await sendException(dsn, type, eventId)).status !== 200) await delay(250);
}

/** Resolves once every incident is there, every step has fired, and every message has left; or when it takes too long. */
async function untilDone(db: Database, watch: PageWatch): Promise<void> {
  const deadline = performance.now() + GIVEN_UP_AFTER_MS;
  while (performance.now() < deadline) {
    await watch.look();
    if (await hasSettled(db).catch(() => false)) return;
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

/** Rejects while the database is being started again. */
async function hasSettled(db: Database): Promise<boolean> {
  const row = await db.sql.row<{ count: number }>('select count(*)::int as count from incidents');
  return row?.count === INCIDENTS && (await isAllDone(db));
}
