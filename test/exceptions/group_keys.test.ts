import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { AnyOperation } from '#actions/action_context.ts';
import { getExceptionOverview } from '#actions/exceptions/get_exception_overview.ts';
import { listExceptionEvents } from '#actions/exceptions/list_exception_events.ts';
import { mergeExceptionGroups } from '#actions/exceptions/merge_exception_groups.ts';
import { splitExceptionGroups } from '#actions/exceptions/split_exception_groups.ts';
import { undoExceptionMerges } from '#actions/exceptions/undo_exception_merges.ts';
import { createCipher } from '#auth/cipher.ts';
import type { ExceptionEvent } from '#core/exceptions/event.ts';
import { earlierKeysOf, groupEvent } from '#core/exceptions/grouping.ts';
import { toOccurrence } from '#core/exceptions/occurrence.ts';
import { groupAndStore } from '#exceptions/group_and_store.ts';
import type { GroupingRuntime } from '#exceptions/grouping_runtime.ts';
import { type Id, newId } from '#kernel/ids.ts';
import { ExceptionWriter } from '#storage/clickhouse/exception_writer.ts';
import { storesOf } from '#storage/postgres/stores.ts';
import { exceptionEvent, FRAME } from '#test/kit/exception_event.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type World, world } from '#test/kit/world.ts';

let w: World;
beforeAll(async () => {
  w = await world({ keepOpen: true });
});
afterAll(() => w.close());

let serviceId: Id<'service'>;
let opened: string[];
let runtime: GroupingRuntime;
beforeEach(async () => {
  ({ serviceId } = await w.given.service());
  opened = [];
  runtime = {
    db: w.context.db,
    eventCipher: createCipher('a secret that is long enough'),
    clock: w.clock,
    sourceMaps: w.context.actions.sourceMaps,
    onOutbox: () => {},
    exceptionWriter: new ExceptionWriter(w.context.clickhouse),
    newGroupsPerMinute: Infinity,
    onNewOrRegressed: async (_unit, groups) => void opened.push(...groups.map(({ title }) => title)),
  };
});

const arrive = (...events: readonly ExceptionEvent[]) =>
  groupAndStore(
    runtime,
    events.map((event) => ({ orgId: w.orgId, serviceId, event })),
    newId('job'),
  );
const event = (given: Partial<ExceptionEvent> = {}) => exceptionEvent(w.clock.now(), given);
const logged = (message: string) => event({ exceptions: [], message });

interface Group {
  readonly id: Id<'group'>;
  readonly title: string;
  readonly into: Id<'group'> | null;
}

async function groups(): Promise<Group[]> {
  const sql =
    'select id, title, merged_into_id as into from exception_groups where service_id = $1 order by created_at, title';
  return await w.context.db.sql.rows<Group>(sql, [serviceId]);
}

/** A group as the release before made it. */
async function groupOfVersion2(of: ExceptionEvent): Promise<Id<'group'>> {
  const grouping = { version: 2, key: earlierKeysOf(of)[0]!, parts: groupEvent(of).parts };
  const [made] = await w.context.db.transaction((session) =>
    storesOf(session).exceptionGroups.upsertSeen(
      [{ orgId: w.orgId, serviceId, grouping, occurrence: toOccurrence(of) }],
      w.clock.now(),
      Infinity,
    ),
  );
  return made!.groupId;
}

async function eventsOf(groupId: Id<'group'>): Promise<number> {
  const group = await w.expectOk('get_exception_group', { groupId });
  return group.eventCount;
}

/** One error in two minified builds. */
const page = (name: string, hash: string) => {
  const frame = {
    ...FRAME,
    module: null,
    contextLine: null,
    function: name,
    filename: `https://shop.example/app-${hash}.js`,
  };
  const exceptions = event().exceptions.map((one) => ({ ...one, frames: [{ ...frame, absPath: frame.filename }] }));
  return event({ platform: 'javascript', exceptions });
};

describe('a later version of the grouping', () => {
  test('opens no group for events whose group is there already, and keeps them in it by its own key too', async () => {
    const groupId = await groupOfVersion2(event());
    await arrive(event(), event());
    expect(await groups()).toMatchObject([{ id: groupId }]);
    expect(opened).toEqual([]);
    expect(await eventsOf(groupId)).toBe(2);
    const keys = 'select key from exception_group_keys where group_id = $1';
    expect(await w.context.db.sql.rows(keys, [groupId])).toEqual([{ key: groupEvent(event()).key }]);
  });

  test('brings what the version before would have split off to the group that it knows', async () => {
    const groupId = await groupOfVersion2(page('t', 'DWx9cN3q'));
    await arrive(page('t', 'DWx9cN3q'));
    await arrive(page('n', 'B0kPz_1f'));
    expect(await groups()).toMatchObject([{ id: groupId }]);
    expect(opened).toEqual([]);
  });
});

describe('messages without a stack', () => {
  test('are grouped by what was learnt from those before, by whatever worker', async () => {
    await arrive(logged('login of user ann failed'), logged('disk is full'));
    await arrive(logged('login of user bob failed'));
    expect((await groups()).map(({ title }) => title)).toEqual(['disk is full', 'login of user <*> failed']);
    expect(opened).toHaveLength(2);
  });

  test('become one group once a word has turned out to be a variable, with the events of all', async () => {
    for (const name of ['auth', 'cart', 'mailer', 'router']) {
      await arrive(logged(`cannot reach service ${name} any more`));
      w.clock.advance({ seconds: 1 });
    }
    const [first, ...others] = await groups();
    expect(others.map(({ into }) => into)).toEqual([first!.id, first!.id]);
    expect(await eventsOf(first!.id)).toBe(4);
  });
});

describe('while the release before may run on the same stores', () => {
  const sideBySide = async (minutes: number) => {
    const sql = 'update migrated_by set version_2_until = $1';
    await w.context.db.sql.run(sql, [w.clock.now().add({ minutes })]);
  };
  beforeEach(async () => {
    await w.context.db.sql.run(`insert into migrated_by (release) values ('before') on conflict do nothing`);
    await sideBySide(60);
  });
  afterAll(() => w.context.db.sql.run('update migrated_by set version_2_until = null'));

  test('it finds the groups that this one makes, and an error that one of them has told is not told again', async () => {
    const failed = event();
    await arrive(failed);
    const [made] = await groups();
    expect(await groupOfVersion2(failed)).toBe(made!.id);
    await sideBySide(-1);
    await arrive(event());
    expect(await groups()).toHaveLength(1);
    expect(opened).toHaveLength(1);
  });

  test('events that this version knows as one error are one, although their earlier keys differ', async () => {
    const [one, other] = [page('t', 'DWx9cN3q'), page('n', 'B0kPz_1f')];
    expect(earlierKeysOf(one)[0]).not.toBe(earlierKeysOf(other)[0]);
    expect(groupEvent(one).key).toBe(groupEvent(other).key);
    await arrive(one);
    await arrive(other);
    expect(await groups()).toHaveLength(1);
  });

  test('too many new groups still go to the overflow, which takes no key', async () => {
    runtime = { ...runtime, newGroupsPerMinute: 1 };
    await arrive(event({ fingerprint: ['a'] }), event({ fingerprint: ['b'] }));
    runtime = { ...runtime, newGroupsPerMinute: Infinity };
    await arrive(event({ fingerprint: ['b'] }));
    expect(await groups()).toHaveLength(3);
  });
});

describe('merged by a person', () => {
  const call = (operation: AnyOperation, input: object) =>
    runOperation(w, operation, memberCaller(w.orgId, w.owner.userId, 'editor'), input);

  test('groups are read as one, take what comes as one, and are what they were when they are split', async () => {
    const [one, other] = ['payment refused by bank', 'no stock left'];
    await arrive(logged(one), logged(other));
    const [a, b] = await groups();
    await call(mergeExceptionGroups, { intoGroupId: a!.id, groupIds: [b!.id] });
    await arrive(logged(one), logged(other));
    expect(opened).toHaveLength(2);
    expect(await eventsOf(a!.id)).toBe(4);
    const listed = await w.expectOk('list_exception_groups', { serviceId });
    expect(listed.groups).toMatchObject([{ groupId: a!.id, eventCount: 4 }]);
    expect(await call(getExceptionOverview, { groupId: a!.id })).toMatchObject({
      eventCount: 4,
      environments: [{ value: 'production', count: 4 }],
      merged: [{ groupId: b!.id, title: one }],
    });
    const newest = await call(listExceptionEvents, { groupId: a!.id, limit: 10 });
    expect(newest.events).toHaveLength(4);
    await call(splitExceptionGroups, { groupIds: [b!.id] });
    expect([await eventsOf(a!.id), await eventsOf(b!.id)]).toEqual([2, 2]);
    const lines = 'select before, after from audit_log where target = $1 order by at, id';
    expect(await w.context.db.sql.rows(lines, [b!.id])).toMatchObject([
      { before: { mergedInto: null }, after: { mergedInto: a!.id } },
      { before: { mergedInto: a!.id }, after: { mergedInto: null } },
    ]);
  });

  test('groups are what they were when it is taken back, and what somebody changed since is left alone', async () => {
    await arrive(logged('payment refused by bank'), logged('no stock left'), logged('router is away'));
    const [a, b, c] = (await groups()).map(({ id }) => id) as [Id<'group'>, Id<'group'>, Id<'group'>];
    const into = async () => (await groups()).map((group) => group.into);
    const undo = (changes: object[]) => call(undoExceptionMerges, { changes });
    const undoOf = (merged: { groupId: string; fromGroupId: string | null }[], nowInGroupId: string) =>
      merged.map(({ groupId, fromGroupId }) => ({ groupId, nowInGroupId, wasInGroupId: fromGroupId }));

    await call(mergeExceptionGroups, { intoGroupId: b, groupIds: [c] });
    const { merged } = await call(mergeExceptionGroups, { intoGroupId: a, groupIds: [b] });
    expect(await into()).toEqual([null, a, a]);
    expect(await undo(undoOf(merged, a))).toMatchObject({ unchanged: 0 });
    expect(await into()).toEqual([null, null, b]);
    expect([await eventsOf(a), await eventsOf(b)]).toEqual([1, 2]);

    const { split } = await call(splitExceptionGroups, { groupIds: [c] });
    expect(split).toEqual([{ groupId: c, fromGroupId: b }]);
    await undo([{ groupId: c, nowInGroupId: null, wasInGroupId: b }]);
    expect(await into()).toEqual([null, null, b]);
    await expect(call(mergeExceptionGroups, { intoGroupId: a, groupIds: [c] })).rejects.toMatchObject({
      code: 'conflict',
      faults: [{ path: 'groupIds[0]' }],
    });
    await call(splitExceptionGroups, { groupIds: [c] });
    await call(mergeExceptionGroups, { intoGroupId: a, groupIds: [c] });
    expect(await undo([{ groupId: c, nowInGroupId: b, wasInGroupId: null }])).toEqual({ undone: [], unchanged: 1 });
    expect(await into()).toEqual([null, null, a]);
  });

  test('a merge that cannot be is refused at its field, and changes nothing', async () => {
    await arrive(logged('payment refused by bank'), logged('no stock left'));
    const [a, b] = (await groups()).map(({ id }) => id);
    const own = serviceId;
    ({ serviceId } = await w.given.service());
    await arrive(logged('of another service'));
    const [foreign] = await groups();
    serviceId = own;
    const refusals = [
      [{ intoGroupId: a, groupIds: [foreign!.id] }, 'invalid_input', 'groupIds[0]'],
      [{ intoGroupId: a, groupIds: [b, a] }, 'invalid_input', 'groupIds[1]'],
      [{ intoGroupId: 'group_01kdwm3y8pfqa9b6t2x0c4v7zs', groupIds: [b] }, 'not_found', 'groupId'],
    ] as const;
    for (const [input, code, path] of refusals) {
      await expect(call(mergeExceptionGroups, input)).rejects.toMatchObject({ code, faults: [{ path }] });
    }
    await call(mergeExceptionGroups, { intoGroupId: a, groupIds: [b] });
    const late = call(mergeExceptionGroups, { intoGroupId: b, groupIds: [a] });
    await expect(late).rejects.toMatchObject({ code: 'conflict', faults: [{ path: 'intoGroupId' }] });
  });

  test('the page says why its events are one group: what was hashed, and the template that was learnt', async () => {
    await arrive(logged('login of user ann failed'));
    await arrive(logged('login of user bob failed'));
    const [group] = await groups();
    const { grouping } = await call(getExceptionOverview, { groupId: group!.id });
    expect(grouping).toMatchObject({
      isCurrent: true,
      furtherKeys: 0,
      parts: [{ because: 'the message, its variables masked', lines: ['login of user ann failed'] }],
      template: { text: 'login of user <*> failed', isPinned: false },
    });
  });
});
