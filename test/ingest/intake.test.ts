import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';

import { createCipher } from '#auth/cipher.ts';
import { PointBatch } from '#ingest/admission/point_batch.ts';
import { type Intake, openIntake } from '#ingest/intake.ts';
import { unpackEvents } from '#ingest/packing/pack_events.ts';
import { readEvent, type SentEvent } from '#ingest/protocols/sentry/event.ts';
import { decodeSentryRequest } from '#ingest/protocols/sentry.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { DurableJobContract } from '#kernel/job.ts';
import { silentLog } from '#kernel/log.ts';
import type { NewDurableJob } from '#storage/queue/durable_queue.ts';
import { unpackedPoints } from '#test/ingest/accepted_data.ts';
import { requestOf } from '#test/ingest/golden/sentry_recordings.ts';
import { pointAt } from '#test/kit/metrics/points.ts';
import { systemClock } from '#kernel/time.ts';
import { type Happenings, happenings, hurry } from '#test/kit/when.ts';

const CIPHER = createCipher('a secret that is long enough');
const ALPHA = { orgId: 'org_1' as Id<'org'>, serviceId: 'service_a' as Id<'service'> };
const BETA = { orgId: 'org_2' as Id<'org'>, serviceId: 'service_b' as Id<'service'> };

/** A queue that can be away, and can hang, as a Redis client does while it has no connection. */
class FakeQueue {
  readonly jobs: (NewDurableJob & { readonly job: DurableJobContract; readonly bytes: Buffer })[] = [];
  state: 'up' | 'away' | 'hanging' = 'up';
  asked = 0;
  stored = 0;

  async durableBytes(): Promise<number> {
    return this.stored;
  }

  async addDurable(job: DurableJobContract, jobs: readonly NewDurableJob[]): Promise<void> {
    this.asked += 1;
    await this.pingStore();
    this.jobs.push(...jobs.map((submitted) => ({ ...submitted, job, bytes: Buffer.from(submitted.bytes) })));
  }

  async pingStore(): Promise<void> {
    if (this.state === 'hanging') await new Promise(() => {});
    if (this.state === 'away') throw new AppError('unavailable', 'away', { retryAfterSeconds: 5 });
  }

  packed(name: string): Buffer[] {
    return this.jobs.filter(({ job }) => job.name === name).map(({ bytes }) => bytes);
  }

  points() {
    return unpackedPoints(this.packed('store_points'));
  }

  eventIds(): string[] {
    const events = this.packed('group_exceptions').flatMap((packed) => unpackEvents(packed, CIPHER));
    return events.map(({ eventId }) => eventId);
  }
}

let queue: FakeQueue;
let logged: Happenings<string>;
let folder: string;
beforeEach(() => {
  queue = new FakeQueue();
  logged = happenings();
  folder = path.join(mkdtempSync(path.join(os.tmpdir(), 'tocsin-spool-')), 'spool');
  onTestFinished(() => rmSync(path.dirname(folder), { recursive: true, force: true }));
});

function openTestIntake(options: { spoolBytesMax?: number; queueBytesMax?: number } = {}): Intake {
  const intake = openIntake({
    queue,
    clock: systemClock,
    log: { ...silentLog, info: (_fields, message) => logged.happen(message) },
    cipher: CIPHER,
    spoolFolder: folder,
    ...options,
  });
  onTestFinished(() => intake.close());
  return intake;
}

function batch(count: number, name = 'cpu'): PointBatch {
  const points = new PointBatch();
  const series = Array.from({ length: Math.min(count, 3) }, (_, index) =>
    points.addSeries({ name, labels: ['host', `h${index}`], key: 2n ** 64n - 1n - BigInt(index) }),
  );
  for (let i = 0; i < count; i += 1) {
    points.add(series[i % series.length]!, 1_795_257_801_495 + i * 15_000, i / 7, i % 5 === 0 ? 'stale' : 'counter');
  }
  return points;
}

const whenLogged = (message: string): Promise<void> => logged.hold((all) => all.includes(message));

async function event(id: number, message = 'out of beans'): Promise<SentEvent> {
  const body = JSON.stringify({ event_id: id.toString(16).padStart(32, '0'), message });
  const { events } = await decodeSentryRequest(requestOf('store', body), async (bytes) => bytes);
  return events[0]!;
}

describe('points', () => {
  test('arrive as they were sent, whichever way they were cut and gathered', async () => {
    const intake = openTestIntake();
    const many = batch(25_000);
    await Promise.all([intake.acceptPoints(ALPHA, many), intake.acceptPoints(BETA, batch(10, 'memory'))]);
    const arrived = queue.points();
    const ofAlpha = arrived.filter(({ serviceId }) => serviceId === ALPHA.serviceId);
    expect(ofAlpha).toHaveLength(25_000);
    const sent = Array.from({ length: 25_000 }, (_, index) => pointAt(many, index));
    const cameAs = ofAlpha.map(({ serviceId: _, ...point }) => point);
    // The last of a job, and the first of the next one.
    expect(cameAs.slice(19_990, 20_010)).toEqual(sent.slice(19_990, 20_010));
    expect(isDeepStrictEqual(cameAs, sent)).toBe(true);
    expect(arrived.filter(({ serviceId }) => serviceId === BETA.serviceId)).toHaveLength(10);
    expect(queue.jobs.length).toBeGreaterThanOrEqual(2);
  });

  test('points of several services become a job for each, with its owner and size', async () => {
    const intake = openTestIntake();
    await Promise.all([intake.acceptPoints(ALPHA, batch(2)), intake.acceptPoints(BETA, batch(3))]);
    const owned = queue.jobs.map(({ orgId, serviceId, items }) => ({ orgId, serviceId, items }));
    expect(owned).toEqual([
      { ...ALPHA, items: 2 },
      { ...BETA, items: 3 },
    ]);
  });

  test('points of many requests become one job', async () => {
    const intake = openTestIntake();
    await Promise.all(Array.from({ length: 50 }, () => intake.acceptPoints(ALPHA, batch(2))));
    expect(queue.jobs).toHaveLength(1);
    expect(queue.points()).toHaveLength(100);
  });

  test('are promised only once they are stored', async () => {
    const intake = openTestIntake();
    const { promise: gate, resolve: openGate } = Promise.withResolvers<void>();
    const keep = vi.spyOn(queue, 'addDurable');
    const { promise: isKept, resolve: begin } = Promise.withResolvers<void>();
    keep.mockImplementationOnce(async (job, jobs) => {
      begin();
      await gate;
      await queue.addDurable(job, jobs);
    });
    let isPromised = false;
    const taking = intake.acceptPoints(ALPHA, batch(1)).then(() => (isPromised = true));
    await isKept;
    expect(isPromised).toBe(false);
    openGate();
    await taking;
    expect(queue.jobs).toHaveLength(1);
  });

  test('are refused with unavailable while the queue is away, without asking it each time', async () => {
    hurry();
    const intake = openTestIntake();
    queue.state = 'away';
    for (let i = 0; i < 5; i += 1) {
      await expect(intake.acceptPoints(ALPHA, batch(1))).rejects.toMatchObject({
        code: 'unavailable',
        retryAfterSeconds: expect.any(Number),
      });
    }
    expect(queue.asked).toBe(1);
    queue.state = 'up';
    await whenLogged('the queue is available again');
    await intake.acceptPoints(ALPHA, batch(1));
  });

  test('are whole when they are sent again after the queue was away, and their memory is given back once they are stored', async () => {
    hurry();
    const intake = openTestIntake();
    const many = batch(9_000);
    const packed: Uint8Array[] = [];
    const keep = vi.spyOn(queue, 'addDurable');
    const sent = async (_job: DurableJobContract, jobs: readonly NewDurableJob[]): Promise<void> => {
      packed.push(...jobs.map(({ bytes }) => bytes));
      await queue.pingStore();
      queue.jobs.push(...jobs.map((job) => ({ ...job, job: _job, bytes: Buffer.from(job.bytes) })));
    };
    keep.mockImplementation(sent);
    queue.state = 'away';
    await expect(intake.acceptPoints(ALPHA, many)).rejects.toMatchObject({ code: 'unavailable' });
    queue.state = 'up';
    await whenLogged('the queue is available again');
    await intake.acceptPoints(ALPHA, many);
    const arrived = queue.points().map(({ serviceId: _, ...point }) => point);
    const sentPoints = Array.from({ length: 9_000 }, (_, index) => pointAt(many, index));
    expect(isDeepStrictEqual(arrived, sentPoints)).toBe(true);
    // What was not stored may still be on its way to the store.
    expect([packed[0]?.length, packed.at(-1)?.length]).toEqual([expect.any(Number), 0]);
    expect(packed[0]?.length).toBeGreaterThan(0);
  });

  test('points of a service that floods are refused, and those of others are accepted', async () => {
    const intake = openTestIntake();
    const { promise: gate, resolve: openGate } = Promise.withResolvers<void>();
    const { promise: waits, resolve: begin } = Promise.withResolvers<'some wait'>();
    vi.spyOn(queue, 'addDurable').mockImplementation(() => {
      begin('some wait');
      return gate;
    });
    const flood = batch(100_000);
    const taken = await Promise.race([
      Promise.allSettled(Array.from({ length: 30 }, () => intake.acceptPoints(ALPHA, flood))),
      waits,
    ]);
    expect(taken).toBe('some wait');
    await expect(intake.acceptPoints(ALPHA, flood)).rejects.toMatchObject({
      code: 'unavailable',
      retryAfterSeconds: 2,
    });
    const other = intake.acceptPoints(BETA, batch(1));
    openGate();
    await other;
  });
});

describe('events', () => {
  test('events of many requests become one job a service and keep their owners', async () => {
    const intake = openTestIntake();
    const first = await event(1);
    const second = await event(2, 'out\nof 🫘');
    const third = await event(3);
    await Promise.all([
      intake.acceptEvents(ALPHA, [first]),
      intake.acceptEvents(BETA, [second]),
      intake.acceptEvents(ALPHA, [third]),
    ]);
    expect(queue.jobs).toMatchObject([
      { ...ALPHA, items: 2 },
      { ...BETA, items: 1 },
    ]);
    const unpacked = queue.packed('group_exceptions').map((packed) => unpackEvents(packed, CIPHER));
    expect(unpacked.map((events) => events.map(({ read }) => read()))).toEqual([
      [
        { ...ALPHA, event: readEvent(first) },
        { ...ALPHA, event: readEvent(third) },
      ],
      [{ ...BETA, event: readEvent(second) }],
    ]);
  });

  test('wait on disk while the queue is away and follow when it is back', async () => {
    hurry();
    const intake = openTestIntake();
    queue.state = 'away';
    await intake.acceptEvents(ALPHA, [await event(1)]);
    await intake.acceptEvents(ALPHA, [await event(2)]);
    expect(readdirSync(folder)).toHaveLength(2);
    expect(queue.asked).toBe(1);
    queue.state = 'up';
    await whenLogged('events from the disk are in the queue');
    expect(queue.eventIds()).toHaveLength(2);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('wait on disk while the queue hangs, and points are refused', async () => {
    hurry();
    const intake = openTestIntake();
    queue.state = 'hanging';
    const first = await event(1);
    const [points, events] = await Promise.allSettled([
      intake.acceptPoints(ALPHA, batch(1)),
      intake.acceptEvents(ALPHA, [first]),
    ]);
    expect(points).toMatchObject({ status: 'rejected', reason: { code: 'unavailable' } });
    expect(events.status).toBe('fulfilled');
    const asked = queue.asked;
    await intake.acceptEvents(ALPHA, [await event(2)]);
    expect([readdirSync(folder).length, queue.asked]).toEqual([2, asked]);
  });

  test('events that waited on disk when the process ended are stored by the next process', async () => {
    hurry();
    const before = openTestIntake();
    queue.state = 'away';
    await before.acceptEvents(ALPHA, [await event(1)]);
    await before.close();
    queue.state = 'up';
    openTestIntake();
    await whenLogged('events from the disk are in the queue');
    expect(queue.eventIds()).toEqual([(await event(1)).context.eventId]);
    expect(readdirSync(folder)).toEqual([]);
  });

  test('are refused when what waits on disk has reached its bound', async () => {
    const intake = openTestIntake({ spoolBytesMax: 10 });
    queue.state = 'away';
    await expect(intake.acceptEvents(ALPHA, [await event(1)])).rejects.toMatchObject({
      code: 'unavailable',
      retryAfterSeconds: 30,
    });
  });
});

describe('while the queue is full', () => {
  test('points are refused with unavailable and nothing is added, and taken again when there is room', async () => {
    hurry();
    const intake = openTestIntake({ queueBytesMax: 10 });
    queue.stored = 20;
    await intake.acceptPoints(ALPHA, batch(1));
    for (let i = 0; i < 3; i += 1) {
      await expect(intake.acceptPoints(ALPHA, batch(1))).rejects.toMatchObject({
        code: 'unavailable',
        retryAfterSeconds: 10,
      });
    }
    expect(queue.jobs).toHaveLength(1);
    queue.stored = 0;
    await whenLogged('the queue has space again');
    await intake.acceptPoints(ALPHA, batch(1));
  });

  test('events wait on disk and follow when there is room', async () => {
    hurry();
    const intake = openTestIntake({ queueBytesMax: 10 });
    queue.stored = 20;
    await intake.acceptEvents(ALPHA, [await event(1)]);
    await intake.acceptEvents(ALPHA, [await event(2)]);
    expect(queue.eventIds()).toHaveLength(1);
    expect(readdirSync(folder)).toHaveLength(1);
    queue.stored = 0;
    await whenLogged('events from the disk are in the queue');
    expect(queue.eventIds()).toHaveLength(2);
    expect(readdirSync(folder)).toEqual([]);
  });
});

test('data that was accepted before the intake closes is stored', async () => {
  const intake = openTestIntake();
  const taking = Promise.all([intake.acceptPoints(ALPHA, batch(1)), intake.acceptEvents(ALPHA, [await event(1)])]);
  await intake.close();
  await taking;
  expect(queue.jobs).toHaveLength(2);
});
