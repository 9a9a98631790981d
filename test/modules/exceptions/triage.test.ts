import { beforeEach, expect, test } from 'vitest';

import {
  addExceptionComment,
  deleteExceptionComment,
  editExceptionComment,
  listExceptionActivity,
} from '#modules/exceptions/operations/activity.ts';
import { assignExceptions } from '#modules/exceptions/operations/assignment.ts';
import { browseExceptionGroups } from '#modules/exceptions/operations/browse_exception_groups.ts';
import { getExceptionOverview } from '#modules/exceptions/operations/get_exception_overview.ts';
import {
  setExceptionStatuses,
  snoozeExceptions,
  undoExceptionStatuses,
} from '#modules/exceptions/operations/statuses.ts';
import { removeMember } from '#modules/organizations/operations/members.ts';
import { ExceptionCounting } from '#modules/exceptions/count_exceptions.ts';
import { reopenSnoozed } from '#modules/exceptions/reopen_snoozed.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import type { Id } from '#kernel/ids.ts';
import { exceptionEvent } from '#test/kit/exception_event.ts';
import { groupNamed } from '#test/modules/exceptions/given_events.ts';
import { runGroupExceptions } from '#test/kit/ingest_jobs.ts';
import { type MailServer, startMailServer } from '#test/kit/programs/mail_server.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { workerRuntime } from '#workers/worker_role.ts';

let w: StaffedWorld;
let post: MailServer;
let editor: Caller;
let serviceId: Id<'service'>;
beforeEach(async () => {
  post = await startMailServer();
  w = await staffedWorld({ settings: { smtpUrl: post.url, mailFrom: 'Tocsin <tocsin@example.com>' } });
  editor = memberCaller(w.orgId, w.owner.userId, 'editor');
  ({ serviceId } = await w.given.service());
});

/** Events of one group arrive, each of another user. */
async function arrive(users: readonly string[] = ['1'], type = 'CardDeclined'): Promise<string> {
  const [exception] = exceptionEvent(w.clock.now()).exceptions;
  const events = users.map((id) =>
    exceptionEvent(w.clock.now(), {
      user: { id, email: null, username: null, ip: null },
      exceptions: [{ ...exception!, type }],
    }),
  );
  await runGroupExceptions(workerRuntime(w.context), { orgId: w.orgId, serviceId }, events);
  // Longer than a group rests after it was counted.
  w.clock.advance({ minutes: 11 });
  const counting = new ExceptionCounting({ ...w.context, exceptions: w.context.actions.exceptions });
  await counting.run();
  await counting.settled();
  return await groupNamed(w, serviceId, type);
}

const overviewOf = (groupId: string) => runOperation(w, getExceptionOverview, editor, { groupId });
const sweep = () => reopenSnoozed(workerRuntime(w.context));
const snooze = (groupId: string, end: object) =>
  runOperation(w, snoozeExceptions, editor, { groupIds: [groupId], ...end });
const statusOf = async (groupId: string) =>
  (await w.context.db.sql.row<{ status: string }>('select status from exception_groups where id = $1', [groupId]))
    ?.status;
const historyOf = async (groupId: string) =>
  (await runOperation(w, listExceptionActivity, editor, { groupId })).entries.map(
    ({ facts }: { facts: object }) => facts,
  );

test('a group snoozed until a time reopens once, and whoever snoozed it is told once', async () => {
  const groupId = await arrive();
  const until = w.clock.now().add({ hours: 1 }).toString();
  await snooze(groupId, { until });
  expect(await overviewOf(groupId)).toMatchObject({ status: 'ignored', snoozed: { events: null, users: null } });
  await sweep();
  expect(await statusOf(groupId)).toBe('ignored');
  w.clock.advance({ hours: 1 });
  // Two processes look at the same time, and a third one later.
  await Promise.all([sweep(), sweep()]);
  await sweep();
  await w.runUntilIdle();
  expect(await overviewOf(groupId)).toMatchObject({ status: 'unresolved', snoozed: null });
  expect(post.mails).toMatchObject([
    {
      recipients: [w.owner.email],
      subject: expect.stringMatching(/No longer snoozed: CardDeclined/),
      text: expect.stringContaining(`/exceptions/${groupId}?org=${w.orgId}`),
    },
  ]);
  expect(await historyOf(groupId)).toMatchObject([
    { kind: 'snooze_ended', because: 'time' },
    { kind: 'snoozed', events: null },
  ]);
});

test('counts that end a snooze are those of events since then', async () => {
  const groupId = await arrive(['1', '2', '3']);
  await snooze(groupId, { events: 3 });
  await sweep();
  await arrive(['1', '1']);
  await sweep();
  expect(await statusOf(groupId)).toBe('ignored');
  await arrive(['1']);
  await sweep();
  expect(await statusOf(groupId)).toBe('unresolved');
  expect((await historyOf(groupId))[0]).toEqual({ kind: 'snooze_ended', because: 'events', events: 3, users: 1 });
});

test('a snooze until a number of users waits for that many', async () => {
  const groupId = await arrive(['1']);
  await snooze(groupId, { users: 2 });
  await arrive(['1', '1', '1']);
  await sweep();
  expect(await statusOf(groupId)).toBe('ignored');
  await arrive(['2']);
  await sweep();
  expect((await historyOf(groupId))[0]).toMatchObject({ because: 'users', users: 2 });
});

test('a decision after a snooze ends it; undone, the group is snoozed again', async () => {
  const groupId = await arrive();
  await snooze(groupId, { until: w.clock.now().add({ hours: 1 }).toString() });
  w.clock.advance({ minutes: 1 });
  const changes = [{ groupId, status: 'resolved' }];
  const { changed } = await runOperation(w, setExceptionStatuses, editor, { changes });
  w.clock.advance({ hours: 2 });
  await sweep();
  expect(await statusOf(groupId)).toBe('resolved');
  await runOperation(w, undoExceptionStatuses, editor, {
    changes: changed.map(({ changedAt }: { changedAt: string }) => ({ groupId, changedAt })),
  });
  expect(await overviewOf(groupId)).toMatchObject({ status: 'ignored', snoozed: { users: null } });
  await sweep();
  expect(await statusOf(groupId)).toBe('unresolved');
});

test.each([['unresolved', 'ignored'], ['ignored']])(
  'a group that is ignored for good stays ignored',
  async (...statuses) => {
    const groupId = await arrive();
    await snooze(groupId, { events: 1 });
    for (const status of statuses) {
      w.clock.advance({ minutes: 1 });
      await runOperation(w, setExceptionStatuses, editor, { changes: [{ groupId, status }] });
    }
    expect(await overviewOf(groupId)).toMatchObject({ status: 'ignored', snoozed: null });
    await arrive(['1', '2']);
    await sweep();
    expect(await statusOf(groupId)).toBe('ignored');
  },
);

test('groups are assigned to people and teams, and listed by them', async () => {
  const [mine, theirs, free] = [
    await arrive(['1'], 'Mine'),
    await arrive(['1'], 'Theirs'),
    await arrive(['1'], 'Free'),
  ];
  const [teamId, bram] = await w.staff.teamOf('Bram');
  const listed = async (assignedTo: string, caller = editor): Promise<string[]> =>
    (await runOperation(w, browseExceptionGroups, caller, { serviceId, assignedTo, sort: 'first' })).groups.map(
      ({ groupId }: { groupId: string }) => groupId,
    );
  const assign = (groupId: string, to: object | null) =>
    runOperation(w, assignExceptions, editor, { groupIds: [groupId], to });
  await assign(mine, { userId: w.owner.userId });
  await assign(theirs, { teamId });
  expect(await overviewOf(theirs)).toMatchObject({ assignedTeamId: teamId, assignedUserId: null });
  expect(await listed('me')).toEqual([mine]);
  expect(await listed('nobody')).toEqual([free]);
  expect(await listed(teamId)).toEqual([theirs]);
  expect(await listed('my_teams', memberCaller(w.orgId, bram.userId, 'responder'))).toEqual([theirs]);
  expect(await assign(theirs, { userId: bram.userId })).toMatchObject({
    changed: [{ groupId: theirs, before: { teamId, userId: null } }],
    assigneeName: 'Bram',
  });
  expect(await assign(theirs, { userId: bram.userId })).toMatchObject({ changed: [] });
  expect(await overviewOf(theirs)).toMatchObject({ assigneeName: 'Bram', assigneeColor: expect.any(Number) });
  const owner = memberCaller(w.orgId, w.owner.userId, 'owner');
  await runOperation(w, removeMember, owner, { userId: bram.userId });
  expect(await overviewOf(theirs)).toMatchObject({ assignedUserId: null, assigneeName: null, assigneeColor: null });
});

test('new groups are assigned by the first rule whose person or team is there, known ones are left alone', async () => {
  const before = await arrive(['1'], 'Known');
  const teamId = await w.staff.team();
  const rule = (assigneeId: string, path: string | null) => ({ path, tag: null, assigneeId });
  const rules = JSON.stringify([rule('user_gone', null), rule(teamId, '*'), rule(w.owner.userId, null)]);
  const columns = 'service_id, filters, patterns, secret_names, assignment_rules, updated_at';
  await w.context.db.sql.run(`insert into exception_settings (${columns}) values ($1, '[]', '[]', '[]', $2, now())`, [
    serviceId,
    rules,
  ]);
  const groupId = await arrive(['1'], 'New');
  expect(await overviewOf(groupId)).toMatchObject({ assignedTeamId: teamId, assignedUserId: null });
  expect(await historyOf(groupId)).toMatchObject([{ kind: 'assigned', assigneeId: teamId, rule: 2 }]);
  await arrive(['1'], 'Known');
  expect(await overviewOf(before)).toMatchObject({ assigneeName: null });
});

test('only members and teams of the organization can be assigned to', async () => {
  const groupId = await arrive();
  const other = await w.given.organization();
  const assign = (to: object) => runOperation(w, assignExceptions, editor, { groupIds: [groupId], to });
  await expect(assign({ userId: other.owner.userId })).rejects.toMatchObject({ code: 'not_found' });
  await expect(assign({ teamId: w.owner.userId })).rejects.toMatchObject({ code: 'not_found' });
  await expect(assign({})).rejects.toMatchObject({ code: 'invalid_input' });
});

test('comments stand in the history with what was done, and only their author changes them', async () => {
  const groupId = await arrive();
  const comment = { groupId, text: ' The bank is down. ', requestKey: 'one-request' };
  const { activityId } = await runOperation(w, addExceptionComment, editor, comment);
  expect(await runOperation(w, addExceptionComment, editor, comment)).toEqual({ activityId });
  const change = { groupId, activityId, text: 'The bank is back.', before: 'The bank is down.' };
  const colleague = memberCaller(w.orgId, (await w.given.user({ role: 'editor' })).userId, 'editor');
  await expect(runOperation(w, editExceptionComment, colleague, change)).rejects.toMatchObject({ code: 'forbidden' });
  await runOperation(w, editExceptionComment, editor, change);
  await expect(runOperation(w, editExceptionComment, editor, { ...change, text: 'Or not.' })).rejects.toMatchObject({
    code: 'conflict',
  });
  w.clock.advance({ minutes: 1 });
  await w.expectOk('set_exception_status', { groupId, status: 'resolved' });
  w.clock.advance({ minutes: 1 });
  await arrive();
  const { entries, nextCursor } = await runOperation(w, listExceptionActivity, editor, { groupId, limit: 2 });
  expect(entries.map(({ facts }: { facts: { kind: string } }) => facts.kind)).toEqual(['regressed', 'status']);
  const rest = await runOperation(w, listExceptionActivity, editor, { groupId, cursor: nextCursor });
  expect(rest).toMatchObject({
    entries: [{ text: 'The bank is back.', by: { userId: w.owner.userId, name: w.owner.name } }],
    nextCursor: null,
  });
  await runOperation(w, deleteExceptionComment, editor, { groupId, activityId });
  expect(await historyOf(groupId)).toHaveLength(2);
});
