import { beforeEach, describe, expect, test } from 'vitest';

import type { AnyOperation } from '#actions/action_context.ts';
import { getExceptionOverview } from '#modules/exceptions/operations/get_exception_overview.ts';
import { listExceptionEvents } from '#modules/exceptions/operations/list_exception_events.ts';
import {
  mergeExceptionGroups,
  splitExceptionGroups,
  splitExceptionMessage,
  undoExceptionMerges,
} from '#modules/exceptions/operations/merging.ts';
import { createCipher } from '#auth/cipher.ts';
import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import { groupEvent } from '#modules/exceptions/decide/grouping.ts';
import { groupAndStore } from '#modules/exceptions/group_and_store.ts';
import type { GroupingRuntime } from '#modules/exceptions/grouping_runtime.ts';
import { type Id, newId } from '#kernel/ids.ts';
import { exceptionEvent, FRAME } from '#test/kit/exception_event.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld } from '#test/kit/world.ts';
import { groupingRuntime } from '#test/modules/exceptions/grouping_runtime.ts';

const w = await fileWorld();

let serviceId: Id<'service'>;
let opened: string[];
let runtime: GroupingRuntime;
beforeEach(async () => {
  ({ serviceId } = await w.given.service());
  opened = [];
  const cipher = createCipher('a secret that is long enough');
  runtime = groupingRuntime(w, cipher, async (_unit, groups) => void opened.push(...groups.map(({ title }) => title)));
});

const arrive = (...events: readonly ExceptionEvent[]) =>
  groupAndStore(
    runtime,
    events.map((event) => ({ orgId: w.orgId, serviceId, event })),
    newId('job'),
  );
const event = (overrides: Partial<ExceptionEvent> = {}) => exceptionEvent(w.clock.now(), overrides);
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

async function eventsOf(groupId: Id<'group'>): Promise<number> {
  const group = await w.expectOk('get_exception_group', { groupId });
  return group.eventCount;
}

/** A message to which the client added the calls that led to it. */
const reported = (message: string, by: string) => {
  const mechanism = { type: 'generic', handled: true, synthetic: true };
  const frames = [{ ...FRAME, function: by, contextLine: null }];
  return event({ message, exceptions: [{ type: 'Error', value: message, module: null, mechanism, frames }] });
};

test('a group takes the events of every key that it has', async () => {
  await arrive(logged('no stock left'));
  const [{ id: groupId }] = (await groups()) as [Group];
  const sql = `insert into exception_group_keys (service_id, key, group_id, created_at) values ($1, $2, $3, now())`;
  await w.context.db.sql.run(sql, [serviceId, groupEvent(event()).key, groupId]);
  await arrive(event(), event());
  expect(await groups()).toMatchObject([{ id: groupId }]);
  expect(opened).toHaveLength(1);
  expect(await eventsOf(groupId)).toBe(3);
});

describe('messages whose client shows where they were reported', () => {
  test('are of that place: the same words of two functions are two groups, other values of one function are one', async () => {
    await arrive(reported('login of user ann failed', 'charge'), reported('login of user ann failed', 'refund'));
    await arrive(reported('login of user bob failed', 'refund'), reported('disk is full', 'refund'));
    expect(await groups()).toHaveLength(3);
    expect(opened).toHaveLength(3);
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

test('too many new groups go to the overflow, which takes no key', async () => {
  runtime = { ...runtime, newGroupsPerMinute: 1 };
  await arrive(event({ fingerprint: ['a'] }), event({ fingerprint: ['b'] }));
  runtime = { ...runtime, newGroupsPerMinute: Infinity };
  await arrive(event({ fingerprint: ['b'] }));
  expect(await groups()).toHaveLength(3);
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
    const ownId = serviceId;
    ({ serviceId } = await w.given.service());
    await arrive(logged('of another service'));
    const [foreign] = await groups();
    serviceId = ownId;
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

describe('a message split off by a person', () => {
  const call = (operation: AnyOperation, input: object) =>
    runOperation(w, operation, memberCaller(w.orgId, w.owner.userId, 'editor'), input);
  const cursorOf = async (groupId: Id<'group'>, message: string): Promise<string> => {
    const { events } = await call(listExceptionEvents, { groupId, limit: 20 });
    return events.find((found: { message: string }) => found.message === message).cursor;
  };
  const failed = (user: string) => `login of user ${user} failed`;
  const eventCounts = async () => {
    const counts = await Promise.all((await groups()).map(async ({ id }) => [id, await eventsOf(id)] as const));
    return new Map(counts);
  };

  test('is an exception of its own from then on, and the others stay with the template', async () => {
    await arrive(logged(failed('ann')), logged(failed('root')));
    const [group] = await groups();
    const event = await cursorOf(group!.id, failed('root'));
    const split = await call(splitExceptionMessage, { groupId: group!.id, event });
    expect(split.message).toBe(failed('root'));
    await arrive(logged(failed('root')), logged(failed('root')), logged(failed('bob')), logged(failed('ann')));
    expect(await eventCounts()).toEqual(
      new Map([
        [group!.id, 4],
        [split.groupId, 2],
      ]),
    );
    expect(opened).toHaveLength(1);
    expect(await call(getExceptionOverview, { groupId: split.groupId })).toMatchObject({
      grouping: { template: { text: failed('root'), isPinned: true } },
    });
    const lines = 'select target, after from audit_log where action = $1 order by target = $2';
    expect(await w.context.db.sql.rows(lines, ['split_exception_message', group!.id])).toEqual([
      { target: split.groupId, after: { splitFrom: group!.id, message: failed('root') } },
      { target: group!.id, after: { splitOff: split.groupId } },
    ]);
  });

  test('is so also when it was the first of its template, is merged again as any other, and split again', async () => {
    await arrive(logged(failed('ann')), logged(failed('bob')));
    const [group] = await groups();
    const groupId = group!.id;
    const event = await cursorOf(groupId, failed('ann'));
    const split = await call(splitExceptionMessage, { groupId, event });
    await arrive(logged(failed('ann')));
    expect((await eventCounts()).get(split.groupId)).toBe(1);
    await call(mergeExceptionGroups, { intoGroupId: groupId, groupIds: [split.groupId] });
    await arrive(logged(failed('ann')));
    expect((await eventCounts()).get(groupId)).toBe(4);
    expect(await call(splitExceptionMessage, { groupId, event })).toEqual(split);
    expect([...(await eventCounts()).values()]).toEqual([2, 2]);
  });

  test('of errors with one stack is so too', async () => {
    const exception = event().exceptions[0]!;
    const said = (value: string) => event({ exceptions: [{ ...exception, value }] });
    await arrive(said('no card'));
    const [group] = await groups();
    const { events } = await call(listExceptionEvents, { groupId: group!.id });
    const split = await call(splitExceptionMessage, { groupId: group!.id, event: events[0].cursor });
    await arrive(said('no card'), said('no basket'), said('no basket'));
    expect([...(await eventCounts())].toSorted(([, a], [, b]) => a - b)[0]).toEqual([split.groupId, 1]);
  });

  test('cannot be one that nothing else is grouped with, or an error whose client groups it', async () => {
    await arrive(logged('disk is full'), event({ fingerprint: ['mine'] }));
    const [message, error] = (await groups()).toSorted((a, b) => (a.title < b.title ? 1 : -1));
    for (const groupId of [message!.id, error!.id]) {
      const { events } = await call(listExceptionEvents, { groupId });
      const input = { groupId, event: events[0].cursor };
      await expect(call(splitExceptionMessage, input)).rejects.toMatchObject({
        code: 'conflict',
        faults: [{ path: 'event' }],
      });
    }
    const gone = { groupId: message!.id, event: `${Date.UTC(2027, 0)}.${'0'.repeat(32)}` };
    await expect(call(splitExceptionMessage, gone)).rejects.toMatchObject({ code: 'not_found' });
    await expect(call(splitExceptionMessage, { ...gone, event: 'x' })).rejects.toMatchObject({ code: 'invalid_input' });
  });
});
