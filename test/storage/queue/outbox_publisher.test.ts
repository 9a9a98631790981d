import { expect, test } from 'vitest';

import { deliverPage, runEscalationStep } from '#storage/queue/jobs.ts';
import type { Clock } from '#kernel/time.ts';
import { silentLog } from '#kernel/log.ts';
import { OutboxStore } from '#storage/postgres/outbox_store.ts';
import type { PendingJob } from '#storage/queue/job_queue.ts';
import { createOutboxPublisher } from '#storage/queue/outbox_publisher.ts';
import { type World, world } from '#test/kit/world.ts';

type Entry = Parameters<OutboxStore['insert']>[0][number];

const page = (notificationId: string): Entry => ({
  jobName: deliverPage.name,
  payload: { notificationId },
  runAt: null,
});

/** A queue that notes what it takes, and refuses whatever mentions `refuses`. */
function noting({ refuses, isAway = false }: { refuses?: string; isAway?: boolean } = {}) {
  const calls: PendingJob[][] = [];
  return {
    calls,
    payloads: () => calls.flatMap((jobs) => jobs.map(({ payload }) => payload)),
    async add(jobs: readonly PendingJob[]) {
      if (isAway || (refuses !== undefined && JSON.stringify(jobs).includes(refuses))) throw new Error('refused');
      calls.push([...jobs]);
    },
    async ping() {
      if (isAway) throw new Error('away');
    },
  };
}

async function write(w: World, entries: readonly Entry[]): Promise<void> {
  await w.context.db.transaction(
    async (session) => void (await new OutboxStore(session).insert(entries, w.clock.now())),
  );
}

async function left(w: World): Promise<number> {
  return (await w.context.db.sql.row<{ n: number }>('select count(*)::int as n from outbox'))?.n ?? -1;
}

const publisher = (w: World, queue: ReturnType<typeof noting>, clock: Clock = w.clock) =>
  createOutboxPublisher(w.context.db, queue, clock, silentLog);

test('an entry that the queue refuses does not delay others, and is dropped after an hour', async () => {
  const w = await world();
  const queue = noting({ refuses: 'poison' });
  const good = Array.from({ length: 300 }, (_, index) => page(`good ${index}`));
  await write(w, [page('poison'), ...good]);
  expect(await publisher(w, queue).publishAll()).toBe(300);
  expect(new Set(queue.payloads())).toHaveLength(300);
  expect(await left(w)).toBe(1);
  w.clock.advance({ minutes: 59 });
  expect(await publisher(w, queue).publishAll()).toBe(0);
  w.clock.advance({ minutes: 2 });
  expect(await publisher(w, queue).publishAll()).toBe(1);
  expect(await left(w)).toBe(0);
});

test('the real queue refuses what PostgreSQL cannot store, and takes the rest', async () => {
  const w = await world({ jobs: 'real queue' });
  await w.context.db.sql.run('insert into outbox (job_name, payload, created_at) values ($1, $2, now())', [
    deliverPage.name,
    '{ "notificationId": "\\u0000" }',
  ]);
  await write(w, [page('good')]);
  expect(await w.context.outbox.publishAll()).toBe(1);
  expect(await left(w)).toBe(1);
});

test.each([
  ['of an unknown job', { jobName: 'invented_later', payload: {}, runAt: null }],
  ['with a newer payload', { ...page('newer'), payload: { notificationId: 'newer', payloadVersion: 2 } }],
])('an entry %s is left to the newer process that wrote it, for a week', async (_, entry) => {
  const w = await world();
  const queue = noting();
  await write(w, [entry, page('good')]);
  expect(await publisher(w, queue).publishAll()).toBe(1);
  expect(queue.payloads()).toEqual([{ notificationId: 'good' }]);
  w.clock.advance({ hours: 7 * 24 });
  await publisher(w, queue).publishAll();
  expect(await left(w)).toBe(1);
  w.clock.advance({ seconds: 1 });
  await publisher(w, queue).publishAll();
  expect(await left(w)).toBe(0);
  expect(queue.payloads()).toHaveLength(1);
});

test('no entry leaves the outbox while the queue does not answer', async () => {
  const w = await world();
  await write(w, [page('good')]);
  await expect(publisher(w, noting({ isAway: true })).publishAll()).rejects.toThrow('away');
  expect(await left(w)).toBe(1);
});

test('a message does not wait behind ten thousand delayed jobs', async () => {
  const w = await world();
  const queue = noting();
  const runAt = w.clock.now().add({ minutes: 5 });
  const alarms = Array.from({ length: 10_000 }, (_, stepIndex) => ({
    jobName: runEscalationStep.name,
    payload: { incidentId: 'incident', stepIndex },
    runAt,
  }));
  await write(w, alarms);
  await write(w, [page('urgent')]);
  expect(await publisher(w, queue).publishAll()).toBe(10_001);
  expect(queue.calls[0]?.map(({ payload }) => payload)).toContainEqual({ notificationId: 'urgent' });
  expect(queue.calls[0]?.at(-1)).toMatchObject({ delayMs: 5 * 60_000 });
  expect(await left(w)).toBe(0);
});
