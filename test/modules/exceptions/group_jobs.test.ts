import { randomBytes } from 'node:crypto';

import { beforeEach, describe, expect, test, vi } from 'vitest';

import { getIngestStatus } from '#modules/services/operations/get_ingest_status.ts';
import { createCipher } from '#auth/cipher.ts';
import { groupEvent } from '#modules/exceptions/decide/grouping.ts';
import { groupJobs } from '#modules/exceptions/group_jobs.ts';
import type { GroupingRuntime } from '#modules/exceptions/grouping_runtime.ts';
import { retryQuarantined } from '#modules/exceptions/quarantine_events.ts';
import type { NewOrRegressed } from '#modules/incidents/open_exception_incidents.ts';
import { packEvents } from '#ingest/packing/pack_events.ts';
import { decodeSentryRequest } from '#ingest/protocols/sentry.ts';
import type { SentEvent } from '#ingest/protocols/sentry/event.ts';
import { AppError } from '#kernel/errors.ts';
import { type Id, uuidOf } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import { type Temporal, toTimestamp } from '#kernel/time.ts';
import type { GroupedEvent } from '#modules/exceptions/store/exception_writer.ts';
import { storesOf } from '#modules/stores.ts';
import { requestOf } from '#test/ingest/golden/sentry_recordings.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld } from '#test/kit/world.ts';
import { groupingRuntime } from '#test/modules/exceptions/grouping_runtime.ts';

const CIPHER = createCipher('a secret that is long enough');

const w = await fileWorld();

let messages: NewOrRegressed[];
let runtime: GroupingRuntime;
let serviceId: Id<'service'>;
beforeEach(async () => {
  ({ serviceId } = await w.given.service());
  messages = [];
  runtime = groupingRuntime(w, CIPHER, async (_unit, groups) => void messages.push(...groups));
});

async function event(message: string, extra: object = {}): Promise<SentEvent> {
  const body = JSON.stringify({ event_id: randomBytes(16).toString('hex'), message, ...extra });
  const request = { ...requestOf('store', body), receivedAt: w.clock.now() };
  const { events } = await decodeSentryRequest(request, async (bytes) => bytes);
  return events[0]!;
}

async function run(events: readonly SentEvent[], attempt = 1, of: readonly Id<'service'>[] = []): Promise<void> {
  const accepted = events.map((sent, index) => ({ orgId: w.orgId, serviceId: of[index] ?? serviceId, sent }));
  await groupJobs(runtime)(packEvents(accepted, CIPHER), { jobId: '1', attempt, log: silentLog });
}

interface Group {
  readonly id: Id<'group'>;
  readonly title: string;
  readonly status: string;
}

async function groups(): Promise<Group[]> {
  const sql = 'select id, title, status from exception_groups where service_id = $1 order by title';
  return await w.context.db.sql.rows<Group>(sql, [serviceId]);
}

/** Returns the number of events in each group, by title. */
async function counts(): Promise<Record<string, number>> {
  const stored = await groups();
  const result = await w.context.clickhouse.query({
    query:
      'SELECT group_id AS id, toUInt32(uniqExact(event_id)) AS events FROM exception_events WHERE service_id = {service:UUID} GROUP BY group_id',
    query_params: { service: uuidOf(serviceId) },
    format: 'JSONEachRow',
  });
  const events = new Map((await result.json<{ id: string; events: number }>()).map((row) => [row.id, row.events]));
  return Object.fromEntries(stored.map(({ id, title }) => [title, events.get(uuidOf(id)) ?? 0]));
}

test('events find their groups, and each new group opens incidents once', async () => {
  const [first, second] = [await event('out of beans'), await event('out of milk')];
  await run([first, second, await event('out of beans')]);
  expect(await counts()).toEqual({ 'out of beans': 2, 'out of milk': 1 });
  const told = { orgId: w.orgId, serviceId, outcome: 'new' };
  expect(messages).toMatchObject([
    { ...told, title: 'out of beans', eventId: first.context.eventId, level: 'error' },
    { ...told, title: 'out of milk', eventId: second.context.eventId },
  ]);
});

test('a job that runs twice stores and tells once', async () => {
  const events = [await event('out of beans')];
  await run(events);
  await run(events);
  await run(events, 2);
  expect(await counts()).toEqual({ 'out of beans': 1 });
  expect(messages).toHaveLength(1);
});

describe('an event that is sent again after its group was resolved', () => {
  const again = async () => await event('out of beans', { event_id: 'e'.repeat(32), timestamp: sentAt });
  let sentAt: string;
  beforeEach(async () => {
    sentAt = toTimestamp(w.clock.now());
    await run([await again()]);
    const [group] = await groups();
    w.clock.advance({ minutes: 1 });
    await w.expectOk('set_exception_status', { groupId: group!.id, status: 'resolved' });
    w.clock.advance({ hours: 1 });
  });

  test('does not reopen it, as a new one does', async () => {
    await run([await again()]);
    expect(await groups()).toMatchObject([{ status: 'resolved' }]);
    expect(messages).toHaveLength(1);
    expect(await counts()).toEqual({ 'out of beans': 1 });
    const other = await event('out of beans');
    await run([await again(), other]);
    expect(await groups()).toMatchObject([{ status: 'unresolved' }]);
    expect(messages).toMatchObject([{ outcome: 'new' }, { outcome: 'regression' }]);
  });

  test.each([
    ['is away', new AppError('unavailable', 'away')],
    ['refuses to look', new Error('MEMORY_LIMIT_EXCEEDED')],
  ])('reopens it while ClickHouse %s: nobody is left unpaged', async (_, fault) => {
    runtime = { ...runtime, exceptions: { listStored: () => Promise.reject(fault) } };
    await run([await again()]);
    expect(messages).toMatchObject([{ outcome: 'new' }, { outcome: 'regression' }]);
  });
});

test('a group is told of with what the event says that brings it back, whatever came before it in the same job', async () => {
  const beans = (extra: object) => event('out of beans', { timestamp: toTimestamp(w.clock.now()), ...extra });
  await run([await beans({ release: '2.0.0' })]);
  const [group] = await groups();
  w.clock.advance({ minutes: 1 });
  await w.expectOk('set_exception_status', { groupId: group!.id, status: 'resolved' });
  w.clock.advance({ minutes: 1 });
  const old = await beans({ release: '1.9.0', environment: 'staging', level: 'fatal', tags: { region: 'test' } });
  const newer = await beans({ release: '2.1.0', environment: 'production', tags: { region: 'eu' } });
  await run([old, newer]);
  expect(messages.slice(1)).toMatchObject([
    {
      outcome: 'regression',
      eventId: newer.context.eventId,
      environment: 'production',
      release: '2.1.0',
      tags: { region: 'eu' },
      level: 'error',
    },
  ]);
});

test('events that ClickHouse did not accept at first are there after the next attempt, and open incidents once', async () => {
  const writer = runtime.exceptionWriter;
  const events = [await event('out of beans')];
  const insert = () => Promise.reject(new AppError('unavailable', 'away'));
  runtime = { ...runtime, exceptionWriter: { insert, deleteService: async () => {} } };
  await expect(run(events, 2)).rejects.toMatchObject({ code: 'unavailable' });
  runtime = { ...runtime, exceptionWriter: writer };
  await run(events, 3);
  expect(await counts()).toEqual({ 'out of beans': 1 });
  expect(messages).toHaveLength(1);
});

test('a store that is away for a moment is waited for', async () => {
  const writer = runtime.exceptionWriter;
  const insert = vi
    .fn<GroupingRuntime['exceptionWriter']['insert']>()
    .mockRejectedValueOnce(new AppError('unavailable', 'away'))
    .mockImplementation((events, token) => writer.insert(events, token));
  runtime = { ...runtime, exceptionWriter: { insert, deleteService: async () => {} } };
  await run([await event('out of beans')]);
  expect(insert).toHaveBeenCalledTimes(2);
  expect(await counts()).toEqual({ 'out of beans': 1 });
  expect(messages).toHaveLength(1);
});

test('a new group whose incidents could not be opened is not stored, and opens them at the next attempt', async () => {
  const { onNewOrRegressed } = runtime;
  const events = [await event('out of beans')];
  runtime = { ...runtime, onNewOrRegressed: () => Promise.reject(new Error('no')) };
  await expect(run(events)).rejects.toThrow('failed to open incidents for new groups');
  expect(await groups()).toEqual([]);
  runtime = { ...runtime, onNewOrRegressed };
  await run(events, 2);
  expect(messages).toHaveLength(1);
});

test('large jobs are read in a thread and stored by themselves, so that nobody waits for them', async () => {
  const writer = runtime.exceptionWriter;
  const held = Promise.withResolvers<void>();
  const insert = async (grouped: readonly GroupedEvent[], token: string): Promise<void> => {
    if (grouped.some(({ event: { message } }) => message === 'held')) await held.promise;
    await writer.insert(grouped, token);
  };
  runtime = { ...runtime, exceptionWriter: { insert, deleteService: async () => {} } };
  const handle = groupJobs(runtime);
  const job = (sent: SentEvent) =>
    handle(packEvents([{ orgId: w.orgId, serviceId, sent }], CIPHER), { jobId: '1', attempt: 1, log: silentLog });
  const large = { extra: { text: 'x'.repeat(700_000) } };
  const jobs = [job(await event('held', large)), job(await event('large', large))];
  const other = await w.given.service();
  const sent = await event('of others');
  const packed = packEvents([{ orgId: w.orgId, serviceId: other.serviceId, sent }], CIPHER);
  await handle(packed, { jobId: '2', attempt: 1, log: silentLog });
  held.resolve();
  await Promise.all(jobs);
  await run([await event('large')]);
  expect(await counts()).toEqual({ held: 1, large: 2 });
});

test('a job of many ordinary events goes with all others, however large it is', async () => {
  const group = vi.fn<typeof groupEvent>(groupEvent);
  runtime = { ...runtime, reading: { group } };
  const ordinary = { extra: { text: 'x'.repeat(16_000) } };
  await run(await Promise.all(Array.from({ length: 40 }, () => event('ordinary', ordinary))));
  expect(group).toHaveBeenCalledTimes(40);
  expect(await counts()).toEqual({ ordinary: 40 });
});

test('a large event is filtered and loses its secret fields like any other', async () => {
  const writer = runtime.exceptionWriter;
  const stored: GroupedEvent['event'][] = [];
  const insert = async (grouped: readonly GroupedEvent[], token: string): Promise<void> => {
    stored.push(...grouped.map((grouping) => grouping.event));
    await writer.insert(grouped, token);
  };
  runtime = { ...runtime, exceptionWriter: { insert, deleteService: async () => {} } };
  const { exceptionSettings } = storesOf(w.context.db.session());
  const settings = {
    filters: [],
    patterns: ['noise*'],
    secretNames: ['shoe_size'],
    eventsPerHour: null,
    learnsSpikes: true,
  };
  await exceptionSettings.save(serviceId, settings, w.clock.now());
  await exceptionSettings.saveLearnt([{ serviceId, learntPerHour: 5 }], w.clock.now());
  const large = { extra: { shoe_size: '44', text: 'x'.repeat(700_000) } };
  await run([await event('noise of a robot', large), await event('kept', large)]);
  expect(stored).toMatchObject([{ message: 'kept', extra: { shoe_size: '[filtered]' } }]);
  expect(await counts()).toEqual({ kept: 1 });
});

test('an event that no store takes costs only itself', async () => {
  const writer = runtime.exceptionWriter;
  const poison = await event('poison');
  const insert = async (grouped: readonly GroupedEvent[], token: string): Promise<void> => {
    if (grouped.some(({ event: { eventId } }) => eventId === poison.context.eventId)) {
      throw Object.assign(new Error('cannot parse'), { type: 'CANNOT_PARSE_INPUT_ASSERTION_FAILED', code: '27' });
    }
    await writer.insert(grouped, token);
  };
  runtime = { ...runtime, exceptionWriter: { insert, deleteService: async () => {} } };
  const events = [await event('out of beans'), poison, await event('out of milk')];
  await expect(run(events)).rejects.toThrow('cannot parse');
  await run(events, 2);
  expect(await counts()).toEqual({ 'out of beans': 1, 'out of milk': 1, poison: 0 });
});

test('an event that cannot be read costs only itself', async () => {
  const sent = await event('unreadable');
  const receivedAt = { toString: () => 'no time' } as unknown as Temporal.Instant;
  const events = [
    await event('out of beans'),
    { ...sent, context: { ...sent.context, receivedAt } },
    await event('out of milk'),
  ];
  await expect(run(events)).rejects.toThrow('cannot be read');
  await run(events, 2);
  expect(await counts()).toEqual({ 'out of beans': 1, 'out of milk': 1 });
});

test('settings that cannot be read leave out nothing, and hold up nobody', async () => {
  const { serviceId: other } = await w.given.service();
  await w.context.db.sql.run(
    `insert into exception_settings (service_id, filters, patterns, secret_names, assignment_rules, learns_spikes, updated_at)
     values ($1, '["all"]', '[null]', '5', '[{"path": 5}]', false, now())`,
    [other],
  );
  await run([await event('out of beans'), await event('of the other')], 1, [serviceId, other]);
  expect(await counts()).toEqual({ 'out of beans': 1 });
  const { groups } = await w.expectOk('list_exception_groups', { serviceId: other });
  expect(groups).toHaveLength(1);
});

test('data that is not an event is dropped, and malformed events are reported to the service once', async () => {
  const { context } = await event('never read');
  const malformed = { context, payload: Buffer.from('{"message": out of beans}') };
  const transaction = { context, payload: Buffer.from('{"type":"transaction"}') };
  await run([malformed, await event('out of milk'), transaction, malformed]);
  await run([malformed, await event('out of cups')], 2);
  expect(await counts()).toEqual({ 'out of cups': 1, 'out of milk': 1 });
  const refused = await storesOf(w.context.db.session()).ingestRefusals.listSince(
    serviceId,
    w.clock.now().subtract({ hours: 1 }),
  );
  expect(refused).toMatchObject([{ kind: 'events', reason: 'faulty', count: 2 }]);
});

describe('a service that is gone', () => {
  test('keeps nothing of what was under way, and others lose nothing', async () => {
    await w.expectOk('delete_service', { serviceId });
    await run([await event('out of beans')]);
    expect(await groups()).toEqual([]);
    expect(messages).toEqual([]);
  });
});

describe('an event that takes too long to read', () => {
  let endless: string | null;
  beforeEach(async () => {
    // Those of earlier tests would be tried again, too.
    await w.context.db.sql.run('delete from quarantined_events');
    endless = 'poison';
    runtime = {
      ...runtime,
      reading: {
        // Far more than a good event takes. One that gets no processor for so long is tried again.
        eventMs: 50,
        group: (read) => {
          // Takes long, as a regular expression that backtracks, or a loop with a fault.
          while (read.message === endless);
          return groupEvent(read);
        },
      },
    };
  });
  const ingestStatus = () =>
    runOperation(w, getIngestStatus, memberCaller(w.orgId, w.owner.userId, 'viewer'), { serviceId });
  const status = async () => (await ingestStatus()).quarantinedEvents;
  const retry = () => retryQuarantined({ ...runtime, log: silentLog });

  test('is stopped, quarantined and shown, and holds up no other event of its job', async () => {
    const events = [await event('before'), await event('poison'), await event('after')];
    await expect(run(events)).rejects.toThrow('stopped after ');
    await run(events, 2);
    expect(await counts()).toEqual({ before: 1, after: 1 });
    expect(await status()).toEqual({
      events: 1,
      since: toTimestamp(w.clock.now()),
      nextTryAt: toTimestamp(w.clock.now().add({ hours: 6 })),
    });
    await run(events, 3);
    expect(await status(), 'quarantined once, however often its job runs').toMatchObject({ events: 1 });
  });

  test('does not come back for hours, and is stored once it can be read', async () => {
    const events = [await event('poison')];
    await run(events, 2);
    endless = null;
    w.clock.advance({ hours: 5 });
    await retry();
    expect(await counts()).toEqual({});
    w.clock.advance({ hours: 1 });
    endless = 'poison';
    await retry();
    expect(await status()).toMatchObject({ events: 1, nextTryAt: toTimestamp(w.clock.now().add({ hours: 6 })) });
    endless = null;
    await storesOf(w.context.db.session()).quarantinedEvents.retry(null, w.clock.now());
    await retry();
    expect(await counts()).toEqual({ poison: 1 });
    expect(await status()).toEqual({ events: 0, since: null, nextTryAt: null });
  });

  test('is tried in turn: however many another organization has, one of each organization comes first', async () => {
    const other = await w.forOrganization();
    const { serviceId: otherId } = await other.given.service();
    await run([await event('poison')], 2);
    await w.context.db.sql.run(
      `insert into quarantined_events (id, service_id, events, payload, tries, quarantined_at, due_at)
       select e.id || n, e.service_id, e.events, e.payload, e.tries, e.quarantined_at, e.due_at
       from quarantined_events e, generate_series(1, 30) n`,
    );
    w.clock.advance({ minutes: 1 });
    const accepted = [{ orgId: other.orgId, serviceId: otherId, sent: await event('poison') }];
    await groupJobs(runtime)(packEvents(accepted, CIPHER), { jobId: '2', attempt: 2, log: silentLog });
    endless = null;
    w.clock.advance({ hours: 7 });
    await retry();
    const left = await w.context.db.sql.rows<{ service_id: string; count: number }>(
      'select service_id, count(*)::int as count from quarantined_events group by service_id',
    );
    expect(left).toEqual([{ service_id: serviceId, count: 12 }]);
  });

  describe('after a month', () => {
    beforeEach(async () => {
      await run([await event('poison')], 2);
      await run([await event('poison')], 2);
      w.clock.advance({ hours: 30 * 24 + 1 });
      await retry();
    });

    test('is given up for good, and counted', async () => {
      expect(await status()).toMatchObject({ events: 0 });
      const { refused } = await ingestStatus();
      expect(refused).toMatchObject([{ kind: 'events', reason: 'faulty', count: 2 }]);
    });
  });
});
