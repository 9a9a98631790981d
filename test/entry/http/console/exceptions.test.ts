import { expect, test } from 'vitest';

import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import type { Id } from '#kernel/ids.ts';
import { storesOf } from '#modules/stores.ts';
import { eventAt, groupAndStore } from '#test/modules/exceptions/given_events.ts';
import { givenPerson, signedIn } from '#test/kit/programs/browser.ts';
import { fileWorld } from '#test/kit/world.ts';
import { ExceptionCounting } from '#modules/exceptions/count_exceptions.ts';

const w = await fileWorld();
const editor = await signedIn(w, (await givenPerson(w, { role: 'editor', name: 'Emma' })).email);
const viewer = await signedIn(w, (await givenPerson(w, { role: 'viewer', name: 'Vera' })).email);
const { serviceId } = await w.given.service();

async function invoke(name: string, input: object, browser = viewer) {
  const answer = await browser.invoke(w.orgId, name, input);
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 });
  return answer.body.result;
}

type Given = Parameters<typeof eventAt>[1];

/** Makes events of one kind of error, by as many users as asked for, one an hour. */
function eventsOf(type: string, count: number, { users = count, ...given }: Given & { users?: number } = {}) {
  return Array.from({ length: count }, (_, index): ExceptionEvent => {
    const user = { id: String(index % users), email: null, username: null, ip: null };
    const exceptions = [{ type, value: `${type} happened`, module: null, mechanism: null, frames: [] }];
    return eventAt(w, { user, exceptions, ago: { hours: index }, ...given });
  });
}

async function send(events: readonly ExceptionEvent[], service = serviceId): Promise<Id<'group'>> {
  const groups = await groupAndStore(w, service, events);
  const groupIds = [...new Set(groups.map(({ groupId }) => groupId))];
  await storesOf(w.context.db.session()).exceptionCounts.markDue(groupIds, w.clock.now());
  return groupIds[0]!;
}

async function countAll(): Promise<void> {
  const counting = new ExceptionCounting({ ...w.context, exceptions: w.context.actions.exceptions });
  await counting.run();
  await counting.settled();
}

/** The titles of all pages, one after another. */
async function titlesOf(input: object, limit = 2): Promise<string[]> {
  const titles: string[] = [];
  for (let cursor: string | null = null; ;) {
    const page: { groups: { title: string }[]; nextCursor: string | null } = await invoke('browse_exception_groups', {
      serviceId,
      ...input,
      limit,
      ...(cursor !== null && { cursor }),
    });
    titles.push(...page.groups.map(({ title }) => title.split(' ')[0]!));
    if (page.nextCursor === null) return titles;
    cursor = page.nextCursor;
  }
}

test('every group is on one page, in the order asked for, and the statuses are counted', async () => {
  await send(eventsOf('Rare', 1, { ago: { hours: 9 } }));
  await send(eventsOf('Loud', 7, { users: 1, environment: 'staging' }));
  await send(eventsOf('Wide', 5, { release: '2.0.0', ago: { hours: 50 } }));
  const quiet = await send(eventsOf('Quiet', 2, { ago: { hours: 3 }, level: 'warning' }));
  await invoke('set_exception_statuses', { changes: [{ groupId: quiet, status: 'ignored' }] }, editor);
  await countAll();
  expect(await titlesOf({})).toEqual(['Loud', 'Quiet', 'Rare', 'Wide']);
  expect(await titlesOf({ sort: 'first' })).toEqual(['Quiet', 'Loud', 'Rare', 'Wide']);
  expect(await titlesOf({ sort: 'events' }, 1)).toEqual(['Loud', 'Wide', 'Quiet', 'Rare']);
  expect((await titlesOf({ sort: 'users' }, 3)).slice(0, 2)).toEqual(['Wide', 'Quiet']);
  expect(await titlesOf({ status: 'unresolved' })).toEqual(['Loud', 'Rare', 'Wide']);
  expect(await titlesOf({ severity: 'warning' })).toEqual(['Quiet']);
  expect(await titlesOf({ text: 'wIDe' })).toEqual(['Wide']);
  expect(await titlesOf({ environment: 'staging' })).toEqual(['Loud']);
  expect(await titlesOf({ release: '2.0.0' })).toEqual(['Wide']);
  expect(await titlesOf({ release: '2.0.0', environment: 'staging' })).toEqual([]);
  const { groups, counts, days } = await invoke('browse_exception_groups', { serviceId, text: 'Loud' });
  expect(counts).toEqual({ unresolved: 1, resolved: 0, ignored: 0 });
  expect(days).toHaveLength(14);
  expect(groups[0]).toMatchObject({ eventCount: 7, userCount: 1, serviceName: 'checkout', releaseCount: 1 });
  expect(groups[0].dailyCounts.reduce((sum: number, count: number) => sum + count)).toBe(7);
  expect(await invoke('list_exception_origins', { serviceId })).toMatchObject({
    environments: ['production', 'staging'],
    releases: ['shop@1.4.0', '2.0.0'],
    releasesTotal: 2,
  });
});

test('a group that nobody has counted yet shows its events at once', async () => {
  const { serviceId: other } = await w.given.service({ name: 'fresh' });
  await send(eventsOf('Fresh', 3), other);
  const { groups } = await invoke('browse_exception_groups', { serviceId: other });
  expect(groups).toMatchObject([{ eventCount: 3, userCount: 3 }]);
  await countAll();
  await send(eventsOf('Fresh', 1), other);
  expect(await invoke('browse_exception_groups', { serviceId: other })).toMatchObject({ groups: [{ eventCount: 4 }] });
});

test('a cursor of another sort, of nothing, or of another list is refused with what to do', async () => {
  const answer = await viewer.invoke(w.orgId, 'browse_exception_groups', { cursor: 'x', sort: 'events' });
  expect(answer).toMatchObject({ status: 400 });
  expect(answer.body.detail).toContain('must be the nextCursor');
  const groupId = await send(eventsOf('Cursor', 1));
  for (const cursor of ['x', '1.2', `1.${'g'.repeat(32)}`]) {
    expect(await viewer.invoke(w.orgId, 'list_exception_events', { groupId, cursor })).toMatchObject({ status: 400 });
  }
  const day = await viewer.invoke(w.orgId, 'list_exception_events', { groupId, day: '2027-02-30' });
  expect(day).toMatchObject({ status: 400 });
  const far = await invoke('list_exception_events', { groupId, day: '9999-12-31' });
  expect(far.events).toEqual([]);
});

test('events are walked one by one in both directions, all of them or those of a day', async () => {
  const groupId = await send([...eventsOf('Walk', 3), ...eventsOf('Walk', 2, { ago: { hours: 72 } })]);
  const seen: string[] = [];
  let page = await invoke('list_exception_events', { groupId });
  expect(page.newerCursor).toBeNull();
  for (;;) {
    seen.push(page.events[0].cursor);
    if (page.olderCursor === null) break;
    page = await invoke('list_exception_events', { groupId, cursor: page.olderCursor });
  }
  expect(new Set(seen).size).toBe(5);
  expect(seen.map((cursor) => Number(cursor.split('.')[0]))).toEqual(
    seen.map((cursor) => Number(cursor.split('.')[0])).toSorted((a, b) => b - a),
  );
  const back: string[] = [];
  for (;;) {
    back.push(page.events[0].cursor);
    if (page.newerCursor === null) break;
    page = await invoke('list_exception_events', { groupId, cursor: page.newerCursor });
  }
  expect(back).toEqual(seen.toReversed());
  const day = w.clock.now().subtract({ hours: 72 }).toString().slice(0, 10);
  const ofDay = await invoke('list_exception_events', { groupId, day, limit: 20 });
  expect(ofDay.events.map(({ cursor }: { cursor: string }) => cursor)).toEqual(seen.slice(3));
  expect([ofDay.newerCursor, ofDay.olderCursor]).toEqual([null, null]);
});

test('an event that was sent twice is walked over once', async () => {
  const once = eventsOf('Twice', 1)[0]!;
  const groupId = await send([once, once, ...eventsOf('Twice', 1, { ago: { hours: 2 } })]);
  const first = await invoke('list_exception_events', { groupId });
  const second = await invoke('list_exception_events', { groupId, cursor: first.olderCursor });
  expect([first.events[0].eventId, second.olderCursor]).toEqual([once.eventId, null]);
  expect(second.newerCursor).toBe(first.events[0].cursor);
});

test('the overview says what is known of the whole group, and which ones are like it', async () => {
  const { serviceId: other } = await w.given.service({ name: 'akin' });
  const groupId = await send([eventAt(w), eventAt(w, { ago: { hours: 30 }, release: 'shop@1.3.0' })], other);
  await send([eventAt(w, { fingerprint: ['{{ default }}', 'eu'] })], other);
  const overview = await invoke('get_exception_overview', { groupId });
  expect(overview).toMatchObject({
    eventCount: 2,
    userCount: 1,
    serviceName: 'akin',
    isHandled: false,
    isNew: false,
    environments: [{ value: 'production', count: 2 }],
    releases: [{ release: 'shop@1.4.0' }, { release: 'shop@1.3.0' }],
    tags: [{ key: 'region', values: [{ value: 'eu', count: 2 }] }],
    taggedEvents: 2,
    incidents: [],
    similar: [{ because: expect.stringContaining('same type') }],
  });
  expect(overview.days).toHaveLength(90);
  expect(overview.days.at(-1)).toMatchObject({ count: 1 });
});

test('a selection is decided as one, its incidents are resolved with it, and all of it can be taken back', async () => {
  const { serviceId: other } = await w.given.service({ name: 'bulk' });
  const [first, second] = [await send(eventsOf('First', 1), other), await send(eventsOf('Second', 1), other)];
  await invoke('set_exception_statuses', { changes: [{ groupId: second, status: 'ignored' }] }, editor);
  const changes = [first, second].map((groupId) => ({ groupId, status: 'resolved' }));
  const done = await invoke('set_exception_statuses', { changes }, editor);
  expect(done.changed).toEqual([
    { groupId: first, before: 'unresolved', status: 'resolved', changedAt: expect.any(String) },
    { groupId: second, before: 'ignored', status: 'resolved', changedAt: expect.any(String) },
  ]);
  expect(await invoke('undo_exception_statuses', { changes: undoOf(done) }, editor)).toMatchObject({ unchanged: 0 });
  const { groups } = await invoke('browse_exception_groups', { serviceId: other });
  expect(groups.map(({ status }: { status: string }) => status).toSorted()).toEqual(['ignored', 'unresolved']);
  const rows = await w.context.db.sql.rows<{ target: string }>(
    `select target from audit_log where action like '%_exception_statuses' and target = any($1)`,
    [[first, second]],
  );
  expect(rows).toHaveLength(5);
  expect(await viewer.invoke(w.orgId, 'set_exception_statuses', { changes })).toMatchObject({ status: 403 });
});

interface Changed {
  readonly changed: readonly { readonly groupId: string; readonly changedAt: string }[];
}

const undoOf = ({ changed }: Changed) => changed.map(({ groupId, changedAt }) => ({ groupId, changedAt }));

test('what is undone is again what it was: that it had come back, and since when', async () => {
  const { serviceId: other } = await w.given.service({ name: 'undone' });
  const groupId = await send(eventsOf('Back', 1), other);
  const change = (status: string) => invoke('set_exception_statuses', { changes: [{ groupId, status }] }, editor);
  const read = async () => (await invoke('browse_exception_groups', { serviceId: other })).groups[0];
  await change('resolved');
  w.clock.advance({ minutes: 1 });
  await send(eventsOf('Back', 1), other);
  const back = await read();
  expect(back).toMatchObject({ status: 'unresolved', regressedAt: expect.any(String) });
  w.clock.advance({ minutes: 1 });
  const done = await change('resolved');
  expect(await read()).toMatchObject({ status: 'resolved', regressedAt: null });
  const undone = await invoke('undo_exception_statuses', { changes: undoOf(done) }, editor);
  expect(undone).toEqual({ undone: [{ groupId, status: 'unresolved' }], unchanged: 0 });
  const { regressedAt, statusChangedAt } = back;
  expect(await read()).toMatchObject({ status: 'unresolved', regressedAt, statusChangedAt });

  expect(await invoke('undo_exception_statuses', { changes: undoOf(done) }, editor)).toEqual({
    undone: [],
    unchanged: 1,
  });
  const ignored = await change('ignored');
  w.clock.advance({ minutes: 1 });
  await change('resolved');
  expect(await invoke('undo_exception_statuses', { changes: undoOf(ignored) }, editor)).toMatchObject({ unchanged: 1 });
  expect(await read()).toMatchObject({ status: 'resolved' });
});

test('all that match are decided slice by slice, also those that no page shows, and what comes meanwhile is left', async () => {
  const { serviceId: other } = await w.given.service({ name: 'many' });
  await send(eventsOf('Spared', 1, { level: 'warning' }), other);
  const events = Array.from({ length: 130 }, (_, index) => eventsOf(`Kind${'abcdefghij'[index % 10]}${index}`, 1)[0]!);
  await send(
    events.map((event, index) => ({ ...event, fingerprint: [`many ${index}`] })),
    other,
  );
  const createdUntil = w.clock.now().toString();
  w.clock.advance({ seconds: 1 });
  await send(eventsOf('Later', 1), other);
  const matching = { serviceId: other, severity: 'error', statuses: ['unresolved'], createdUntil };
  const first = await invoke('set_matching_statuses', { status: 'resolved', matching }, editor);
  expect(first).toMatchObject({ left: 30 });
  expect(first.changed).toHaveLength(100);
  const second = await invoke('set_matching_statuses', { status: 'resolved', matching }, editor);
  expect(second).toMatchObject({ left: 0 });
  expect(second.changed).toHaveLength(30);
  const { counts } = await invoke('browse_exception_groups', { serviceId: other });
  expect(counts).toEqual({ unresolved: 2, resolved: 130, ignored: 0 });
  const none = await invoke('set_matching_statuses', { status: 'resolved', matching }, editor);
  expect(none).toEqual({ changed: [], resolvedIncidentIds: [], left: 0 });
  const refused = await viewer.invoke(w.orgId, 'set_matching_statuses', { status: 'resolved', matching });
  expect(refused).toMatchObject({ status: 403 });
});

test('groups of another organization are not found, and change nothing', async () => {
  const umbrella = await w.given.organization('Umbrella');
  const { serviceId: theirs } = await w.given.service({ name: 'theirs', key: umbrella.orgKey });
  const answer = await send(eventsOf('Own', 1));
  for (const [name, input] of [
    ['browse_exception_groups', { serviceId: theirs }],
    ['list_exception_origins', { serviceId: theirs }],
    ['get_exception_overview', { groupId: 'group_01kdwm3y8pfqa9b6t2x0c4v7zs' }],
    ['list_exception_events', { groupId: 'group_01kdwm3y8pfqa9b6t2x0c4v7zs' }],
  ] as const) {
    expect(await viewer.invoke(w.orgId, name, input)).toMatchObject({ status: 404 });
  }
  const changes = [answer, 'group_01kdwm3y8pfqa9b6t2x0c4v7zs'].map((groupId) => ({ groupId, status: 'resolved' }));
  expect(await editor.invoke(w.orgId, 'set_exception_statuses', { changes })).toMatchObject({ status: 404 });
  expect(await invoke('get_exception_overview', { groupId: answer })).toMatchObject({ status: 'unresolved' });
});
