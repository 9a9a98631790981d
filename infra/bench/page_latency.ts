import { setTimeout as delay } from 'node:timers/promises';

import { connect } from '#infra/demo/client.ts';

import { count, spreadCells, spreadOf } from './figures.ts';
import { type Bench, type BenchInstallation, printInputs, printTable, withInstallation } from './harness.ts';
import {
  alertOnExceptions,
  alertOnMetric,
  createPost,
  hireTeam,
  openRunningDatabase,
  type Post,
} from './paging/crowd.ts';
import { isAllDone, PageWatch, type TakenPages } from './paging/pages.ts';
import { sendException, type Sending, sendPoint } from './paging/sender.ts';
import type { Database } from '#storage/postgres/database.ts';

const EXCEPTIONS = 120;
const BREACHES = 60;
/** Each has a person of its own, who gets three messages: a fourth within a minute would be bundled. */
const POSTS = 60;
const EXCEPTION_EVERY_MS = 150;
/** So that breaches fall on every moment between two evaluations. */
const BREACH_EVERY_MS = 470;
const PAGED_WITHIN_MS = 60_000;

export const pageLatency: Bench = {
  name: 'page_latency',
  about:
    'from an exception or a breaching point to the request at the SMS provider (goals: exceptions p50 300 ms, p99 1 s; ' +
    'points p50 8 s, p99 16 s)',
  run: () =>
    withInstallation(async (installation) => {
      printInputs({
        exceptions: `${EXCEPTIONS}, each of a new group, one every ${EXCEPTION_EVERY_MS} ms`,
        'breaching points': `${BREACHES}, each of a rule of its own, one every ${BREACH_EVERY_MS} ms`,
        rules: count(POSTS + BREACHES),
        stores: 'embedded, as durable as in production',
      });
      const db = await openRunningDatabase(installation.dataDir);
      try {
        await measure(installation, db);
      } finally {
        await db.close();
      }
    }),
};

async function measure(installation: BenchInstallation, db: Database): Promise<void> {
  const posts = await prepare(installation, db);
  const watch = new PageWatch(installation.phoneUrl);
  const exceptions = await sendAll(EXCEPTIONS, EXCEPTION_EVERY_MS, (index) =>
    sendException(postOf(posts, index).dsn, `Exception${index}`),
  );
  const points = await sendAll(BREACHES, BREACH_EVERY_MS, (index) => {
    const { ingestionKey } = postOf(posts, index);
    return sendPoint(installation.baseUrl, ingestionKey, { name: `metric_${index}`, value: 250 });
  });
  await untilPaged(db, EXCEPTIONS + BREACHES);
  const pagedAt = await pageTimes(db, await watch.look());
  printTable([
    ...rowsOf('exception', exceptions, (index) => pagedAt.get(`Exception${index}`)),
    ...rowsOf('breaching point', points, (index) => pagedAt.get(`metric_${index}`)),
  ]);
}

async function prepare(installation: BenchInstallation, db: Database): Promise<Post[]> {
  const client = connect({ ...installation, stop: async () => {} });
  const { teamId, userIds } = await hireTeam(db, client, installation.organizationId, POSTS);
  const posts: Post[] = [];
  for (const [index, userId] of userIds.entries()) {
    const steps = [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [userId] }];
    const post = await createPost(client, teamId, `service-${index}`, steps);
    await alertOnExceptions(client, post);
    posts.push(post);
  }
  for (let index = 0; index < BREACHES; index += 1) {
    await alertOnMetric(client, postOf(posts, index), `metric_${index}`);
  }
  return posts;
}

function postOf(posts: readonly Post[], index: number): Post {
  const post = posts[index % posts.length];
  if (post === undefined) throw new Error('there are no services');
  return post;
}

/** One after the other at even distances, whether or not the one before is answered. */
async function sendAll(times: number, everyMs: number, send: (index: number) => Promise<Sending>): Promise<Sending[]> {
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

/** When the provider was first asked about each incident, by what its title begins with. */
async function pageTimes({ sql }: Database, taken: TakenPages): Promise<Map<string, number>> {
  const rows = await sql.rows<{ id: string; title: string }>(
    'select n.id, i.title from notifications n join incidents i on i.id = n.incident_id',
  );
  return new Map(
    rows.flatMap(({ id, title }): [string, number][] => {
      const [atMs] = taken.get(id) ?? [];
      return atMs === undefined ? [] : [[title.split(':')[0] ?? '', atMs]];
    }),
  );
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
