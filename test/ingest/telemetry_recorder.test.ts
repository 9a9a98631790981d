import { expect, test } from 'vitest';

import { listEventExtras, listFeedback, readEventAttachment } from '#modules/exceptions/operations/event_extras.ts';
import { getIngestStatus } from '#modules/services/operations/get_ingest_status.ts';
import { listReleaseHealth } from '#modules/services/operations/service_overview.ts';
import { buildApp } from '#entry/http/app.ts';
import { admitItems, openItemLimiters } from '#ingest/item_limits.ts';
import type { SentryDelivery } from '#ingest/protocols/sentry.ts';
import type { RateLimiter } from '#ingest/rate_limiter.ts';
import { TelemetryRecorder } from '#ingest/telemetry_recorder.ts';
import { AppError } from '#kernel/errors.ts';
import { asId } from '#kernel/ids.ts';
import { silentLog } from '#kernel/log.ts';
import { Temporal, toTimestamp } from '#kernel/time.ts';
import { storesOf } from '#modules/stores.ts';
import { eventAt, groupAndStore } from '#test/modules/exceptions/given_events.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld } from '#test/kit/world.ts';

const w = await fileWorld();

const ID = '9f3329ff52304ef080395b9b8bf31b50';

type Items = readonly (object | number)[];

/** Sends an envelope of each to a process that ends right behind, so that what it counts is written. */
async function sendEach(dsn: string, ...envelopes: readonly Items[]): Promise<void> {
  const app = await buildApp(w.context);
  for (const items of envelopes) {
    const payload = [{ event_id: ID, dsn }, ...items].map((line) => JSON.stringify(line)).join('\n');
    const answer = await app.inject({ method: 'POST', url: '/api/ingest/envelope', payload });
    expect(answer.statusCode).toBe(200);
  }
  await app.close();
}

const send = (dsn: string, ...items: Items): Promise<void> => sendEach(dsn, items);

interface Listed {
  readonly eventId: string | null;
  readonly comments: string;
  readonly attachments: readonly { readonly attachmentId: string }[];
}

const viewer = () => memberCaller(w.orgId, w.owner.userId, 'viewer');

test('what is not kept is counted under its name, and sessions by their release', async () => {
  const { serviceId, dsn } = await w.given.service();
  const attrs = { release: 'shop@1.2.0' };
  const report = { discarded_events: [{ category: 'error', reason: 'queue_overflow', quantity: 3 }] };
  const batch = [{ type: 'transaction' }, {}, { type: 'transaction' }, {}, { type: 'replay_recording' }, {}];
  const sessions = [0, 1, 2].flatMap((crashed) => [
    { type: 'session' },
    { init: true, status: crashed === 0 ? 'crashed' : 'ok', attrs },
  ]);
  await sendEach(
    dsn,
    [...batch, { type: 'made_up' }, {}, { type: 'client_report' }, report, ...sessions],
    [{ type: 'transaction' }, {}, { type: 'sessions' }, { attrs, aggregates: [{ exited: 97 }] }],
  );

  const { notKept } = await runOperation(w, getIngestStatus, viewer(), { serviceId });
  expect(notKept.map((items: Record<string, unknown>) => [items['kind'], items['reason'], items['count']])).toEqual([
    ['event', 'client:queue_overflow', 3],
    ['transaction', 'not_kept', 3],
    ['other', 'not_kept', 1],
    ['replay', 'not_kept', 1],
  ]);
  expect(await runOperation(w, listReleaseHealth, viewer(), { serviceId })).toEqual({
    releases: [{ release: 'shop@1.2.0', sessions: 100, errored: 0, crashed: 1, abnormal: 0, crashFreePercent: 99 }],
    total: 1,
  });
});

test('events beyond those that one envelope may hold are counted as too many, and not as faulty', async () => {
  const { serviceId, dsn } = await w.given.service();
  await send(dsn, ...Array.from({ length: 12 }, () => [{ type: 'event' }, { message: 'boom' }]).flat());
  const { notKept, refused } = await runOperation(w, getIngestStatus, viewer(), { serviceId });
  expect(notKept).toMatchObject([{ kind: 'event', reason: 'too_many', count: 2 }]);
  expect(refused).toEqual([]);
});

test('a session that went wrong counts once, however often and by however many processes its client says so', async () => {
  const { serviceId, dsn } = await w.given.service();
  const attrs = { release: 'web@1' };
  const told = (sid: string, ...updates: readonly object[]) =>
    updates.flatMap((update) => [{ type: 'session' }, { sid: sid.repeat(32), attrs, ...update }]);
  await send(dsn, ...told('a', { init: true, status: 'ok', errors: 1 }, { status: 'unhandled', errors: 1 }));
  await send(
    dsn,
    ...told('a', { status: 'unhandled', errors: 1 }),
    ...told('b', { init: true, status: 'ok', errors: 1 }),
  );
  await sendEach(
    dsn,
    [...told('b', { status: 'crashed', errors: 2 }), ...told('c', { init: true, status: 'exited' })],
    told('b', { status: 'crashed', errors: 2 }),
  );

  const { releases } = await runOperation(w, listReleaseHealth, viewer(), { serviceId });
  expect(releases).toMatchObject([{ release: 'web@1', sessions: 3, errored: 1, crashed: 1, abnormal: 0 }]);
});

test('each is counted in its own hour, also when the clock is set back', async () => {
  const { serviceId } = await w.given.service();
  const clock = { now: () => Temporal.Instant.from(now) };
  const recorder = new TelemetryRecorder({
    db: w.context.db,
    clock,
    log: silentLog,
    cipher: { seal: (plain) => Buffer.from(plain) },
  });
  let now = '';
  for (now of ['2027-03-10T09:59:59.999Z', '2027-03-10T10:00:00Z', '2027-03-10T10:59:59Z', '2027-03-10T09:30:00Z']) {
    recorder.count(asId('service', serviceId), 'span', 'not_kept');
  }
  await recorder.close();
  const rows = await w.context.db.sql.rows<{ hour: Temporal.Instant; count: number }>(
    'select hour, count::int from sent_items where service_id = $1 order by hour',
    [serviceId],
  );
  expect(rows.map(({ hour, count }) => [toTimestamp(hour), count])).toEqual([
    ['2027-03-10T09:00:00.000Z', 2],
    ['2027-03-10T10:00:00.000Z', 2],
  ]);
});

test('a sender that names ever other releases fills neither the database nor the memory that others need', async () => {
  const { serviceId } = await w.given.service();
  const { serviceId: otherId } = await w.given.service();
  const { db, clock } = w.context;
  const recorder = new TelemetryRecorder({
    db,
    clock,
    log: silentLog,
    cipher: { seal: (plain) => Buffer.from(plain) },
  });
  const told = (releases: readonly string[]) => {
    const counts = { environment: '', sessions: 1, errored: 0, crashed: 0, abnormal: 0 };
    const nothing = { outcomes: [], discarded: [], feedback: [], checkIns: [], metrics: [], attachments: [] };
    const besides = { ...nothing, sessions: releases.map((release) => ({ release, ...counts })) };
    return { eventId: ID, events: [], besides, dropped: [] } as unknown as SentryDelivery;
  };
  const invented = Array.from({ length: 25_000 }, (_, index) => `invented@${index}`);
  await recorder.accept(asId('service', serviceId), told(['shop@1', ...invented]));
  await recorder.accept(asId('service', otherId), told(['web@1']));
  await recorder.write();
  await recorder.accept(asId('service', serviceId), told(['shop@1', 'late@1']));
  await recorder.write();
  await recorder.close();

  const other = await runOperation(w, listReleaseHealth, viewer(), { serviceId: otherId });
  expect(other.releases).toMatchObject([{ release: 'web@1', sessions: 1 }]);
  const { releases, total } = await runOperation(w, listReleaseHealth, viewer(), { serviceId });
  expect(total).toBe(1_000);
  expect(releases[0]).toMatchObject({ release: 'shop@1', sessions: 2 });
  const { notKept } = await runOperation(w, getIngestStatus, viewer(), { serviceId });
  expect(notKept).toMatchObject([{ kind: 'session', reason: 'too_many', count: 24_002 }]);
});

test('files and feedback are shown with their event, encrypted until then, and to its organization alone', async () => {
  const { serviceId, dsn } = await w.given.service();
  const [group] = await groupAndStore(w, asId('service', serviceId), [eventAt(w, { eventId: ID })]);
  const groupId = group!.groupId;
  const file = { type: 'attachment', filename: 'app.log', content_type: 'text/plain' };
  await send(dsn, file, { line: 'a secret of the user' }, { type: 'user_report' }, { event_id: ID, comments: 'broke' });

  const extras = await runOperation(w, listEventExtras, viewer(), { groupId, eventId: ID });
  expect(extras).toMatchObject({
    attachments: [{ name: 'app.log', contentType: 'text/plain', bytes: 31 }],
    feedback: [{ comments: 'broke', name: null }],
  });
  const { attachmentId } = extras.attachments[0]!;
  const read = await runOperation(w, readEventAttachment, viewer(), { groupId, attachmentId });
  expect(Buffer.from(read.content, 'base64').toString()).toBe('{"line":"a secret of the user"}');
  const [stored] = await w.context.db.sql.rows<{ content: Buffer }>('select content from event_attachments');
  expect(stored!.content.includes('secret of the user')).toBe(false);

  const stranger = await w.given.organization('Other');
  const theirs = memberCaller(stranger.orgId, stranger.owner.userId, 'viewer');
  await expect(runOperation(w, listEventExtras, theirs, { groupId, eventId: ID })).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('feedback about no event, or about one that never came, is listed with its files', async () => {
  const { serviceId, dsn } = await w.given.service();
  const told = (event_id: string, message: string, about: object = {}) => ({
    event_id,
    type: 'feedback',
    contexts: { feedback: { message, contact_email: 'kim@x.test', url: 'https://shop.test/pay', ...about } },
  });
  const file = { type: 'attachment', filename: 'screenshot.png', length: 4 };
  await sendEach(
    dsn,
    [{ type: 'feedback' }, told('a'.repeat(32), 'cannot pay'), file, 1234],
    [{ type: 'user_report' }, { event_id: 'c'.repeat(32), comments: 'it broke' }],
  );
  w.clock.advance({ seconds: 1 });
  const about = { associated_event_id: ID };
  await send(dsn, { type: 'feedback' }, told('b'.repeat(32), 'about an event', about), file, 1234);

  const listed = await runOperation(w, listFeedback, viewer(), { serviceId });
  const { total } = listed;
  const feedback: readonly Listed[] = listed.feedback;
  expect(total).toBe(3);
  expect(feedback[0]).toMatchObject({
    eventId: ID,
    comments: 'about an event',
    email: 'kim@x.test',
    url: 'https://shop.test/pay',
    attachments: [{ name: 'screenshot.png' }],
  });
  expect(new Map(feedback.map(({ comments, eventId }) => [comments, eventId]))).toEqual(
    new Map([
      ['about an event', ID],
      ['cannot pay', null],
      ['it broke', 'c'.repeat(32)],
    ]),
  );
  const alone = feedback.find(({ comments }) => comments === 'cannot pay')!;
  const { attachmentId } = alone.attachments[0]!;
  const read = await runOperation(w, readEventAttachment, viewer(), { serviceId, attachmentId });
  expect(Buffer.from(read.content, 'base64').toString()).toBe('1234');
  expect((await runOperation(w, getIngestStatus, viewer(), { serviceId })).feedback).toMatchObject({ count: 3 });
});

test('feedback and files that are sent twice are stored once, and other words about the same event beside them', async () => {
  const { serviceId, dsn } = await w.given.service();
  const file = { type: 'attachment', filename: 'screenshot.png' };
  const words = { event_id: 'a'.repeat(32), contexts: { feedback: { message: 'cannot pay' } } };
  const report = (comments: string) => [{ type: 'user_report' }, { event_id: ID, comments }];
  for (let time = 0; time < 2; time += 1) {
    await sendEach(dsn, [{ type: 'feedback' }, words, file, 1234], report('it broke'));
  }
  await send(dsn, ...report('it broke again'));
  const { feedback } = await runOperation(w, listFeedback, viewer(), { serviceId });
  const listed = feedback.map(({ comments, attachments }: Listed) => `${comments} ${attachments.length}`);
  expect(listed.toSorted()).toEqual(['cannot pay 1', 'it broke 0', 'it broke again 0']);
});

test('files of feedback that is refused are refused with it, and counted', async () => {
  const { serviceId, dsn } = await w.given.service();
  const file = { type: 'attachment', filename: 'screenshot.png' };
  const words = { event_id: 'd'.repeat(32), contexts: { feedback: { message: 'cannot pay' } } };
  const fill = `insert into event_feedback (id, service_id, comments, created_at)
    select $1 || n, $1, 'x', now() from generate_series(1, 10000) n`;
  await w.context.db.sql.run(fill, [serviceId]);
  await sendEach(
    dsn,
    [{ type: 'feedback' }, words, file, 1234],
    [{ type: 'feedback' }, { contexts: { feedback: { message: '' } } }, file, 1234],
  );
  const kept = `select 1 from event_attachments where service_id = $1`;
  expect(await w.context.db.sql.rows(kept, [serviceId])).toEqual([]);
  const { notKept } = await runOperation(w, getIngestStatus, viewer(), { serviceId });
  expect(notKept.map(({ kind, reason }: Record<string, string>) => `${kind ?? ''} ${reason ?? ''}`).toSorted()).toEqual(
    ['attachment not_kept', 'attachment over_quota', 'feedback malformed', 'feedback over_quota'],
  );
  const limited = Promise.reject(new AppError('rate_limited', 'too much'));
  limited.catch(() => {});
  const open = (isOver: boolean) => ({ check: () => (isOver ? limited : Promise.resolve()) }) as unknown as RateLimiter;
  const besides = {
    feedback: [{}],
    attachments: [{}, {}],
    sessions: [],
    outcomes: [],
    checkIns: [],
    discarded: [],
    metrics: [],
  };
  const { delivery } = await admitItems(
    openItemLimiters((noun) => open(noun === 'feedback')),
    serviceId,
    { events: [], besides, dropped: [] } as unknown as SentryDelivery,
  );
  expect(delivery.besides.attachments).toEqual([]);
  expect(delivery.dropped).toMatchObject([
    { type: 'feedback', reason: 'rate_limited', count: 1 },
    { type: 'attachment', reason: 'rate_limited', count: 2 },
  ]);
});

test('a file of a transaction is not kept, and told as such', async () => {
  const { serviceId, dsn } = await w.given.service();
  const file = { type: 'attachment', filename: 'app.log' };
  await sendEach(
    dsn,
    [{ type: 'transaction' }, { type: 'transaction' }, file, 1234],
    [file, 1234, { type: 'transaction' }, {}],
  );
  const { notKept } = await runOperation(w, getIngestStatus, viewer(), { serviceId });
  expect(notKept).toMatchObject([
    { kind: 'attachment', reason: 'not_kept', count: 2 },
    { kind: 'transaction', reason: 'not_kept', count: 2 },
  ]);
  const stored = await w.context.db.sql.rows('select id from event_attachments where service_id = $1', [serviceId]);
  expect(stored).toEqual([]);
});

test('files beyond the quota of a service, or too many of an event, are not stored', async () => {
  const { serviceId } = await w.given.service();
  const file = (eventId: string, bytes: number) => ({
    id: crypto.randomUUID(),
    serviceId: asId('service', serviceId),
    eventId,
    name: 'f',
    contentType: null,
    bytes,
    content: Buffer.from('x'),
    createdAt: w.clock.now(),
  });
  const add = (eventId: string, bytes: number) =>
    w.context.db.transaction((session) => storesOf(session).eventExtras.addAttachment(file(eventId, bytes), 100));
  expect(await add('a', 60)).toBe(true);
  expect(await add('b', 60)).toBe(false);
  for (let i = 1; i < 20; i += 1) expect(await add('a', 1)).toBe(true);
  expect(await add('a', 1)).toBe(false);
});
