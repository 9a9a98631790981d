import { beforeEach, expect, test } from 'vitest';

import { setExceptionAssignment } from '#modules/exceptions/operations/assignment.ts';
import { setExceptionIssue, watchException } from '#modules/exceptions/operations/activity.ts';
import { browseExceptionGroups } from '#modules/exceptions/operations/browse_exception_groups.ts';
import { getExceptionOverview } from '#modules/exceptions/operations/get_exception_overview.ts';
import { browseExceptionEvents, listExceptionUsers } from '#modules/exceptions/operations/browse_exception_events.ts';
import { deleteSavedSearch, listSavedSearches, saveSearch } from '#modules/exceptions/operations/saved_searches.ts';
import { addAlertRule } from '#modules/rules/operations/create_alert_rule.ts';
import { replayExceptionRule } from '#modules/rules/operations/replay_rule.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import type { ExceptionEvent } from '#modules/exceptions/decide/event.ts';
import type { Id } from '#kernel/ids.ts';
import { eventAt, groupAndStore, groupNamed } from '#test/modules/exceptions/given_events.ts';
import { exceptionEvent } from '#test/kit/exception_event.ts';
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

/** Events of groups with these types arrive. */
async function arriveTogether(arriving: readonly (readonly [type: string, overrides: Partial<ExceptionEvent>])[]) {
  const events = arriving.map(([type, overrides]) => {
    const event = exceptionEvent(w.clock.now(), overrides);
    const [exception] = event.exceptions;
    const frames = exception!.frames.map((frame) => ({ ...frame, filename: 'src/app.ts' }));
    return { ...event, exceptions: [{ ...exception!, type, frames }] };
  });
  await runGroupExceptions(workerRuntime(w.context), { orgId: w.orgId, serviceId }, events);
}

/** An event arrives, of a group with this type; returns the group. */
async function arrive(type: string, overrides: Partial<ExceptionEvent> = {}): Promise<string> {
  await arriveTogether([[type, overrides]]);
  return await groupNamed(w, serviceId, type);
}

const user = (id: string, email: string | null = null) => ({ user: { id, email, username: null, ip: null } });
const run: typeof runOperation = (world, operation, caller, input) => runOperation(world, operation, caller, input);
const found = async (query: string, fields: object = {}): Promise<string[]> =>
  (await run(w, browseExceptionGroups, editor, { serviceId, query, sort: 'first', ...fields })).groups
    .map(({ title }: { title: string }) => title.split(':')[0])
    .sort();

/** An event as it is stored: what arrives in tests has fewer fields than clients send. */
function stored(type: string, overrides: Partial<ExceptionEvent>, filename = 'src/app.ts'): ExceptionEvent {
  const event = eventAt(w, overrides);
  const [exception] = event.exceptions;
  const frames = exception!.frames.map((frame) => ({ ...frame, filename }));
  return { ...event, exceptions: [{ ...exception!, type, frames }] };
}

test('exceptions are found by what one of their events says', async () => {
  const paid = { ...user('7'), transaction: 'GET /pay', message: 'the "bank" is 100% down' };
  await groupAndStore(w, serviceId, [
    stored('Alpha', { ...user('42', 'ann@example.com'), environment: 'production', release: '1.2.0' }),
    stored('Alpha', { ...user('43'), environment: 'staging', release: '1.3.0' }),
    stored('Beta', { ...user('43'), environment: 'production', release: '1.3.0', tags: { customer: 'Acme Ltd' } }),
    stored('Gamma', paid, 'src/checkout.ts'),
    stored('Delta', { ...user('8'), request: { url: 'https://shop.example.com/pay?x=1' } }),
  ]);
  expect(await found('user:43')).toEqual(['Alpha', 'Beta']);
  expect(await found('user:ANN@example.com')).toEqual(['Alpha']);
  // Both have to hold for one event.
  expect(await found('user:43 env:prod*')).toEqual(['Beta']);
  expect(await found('user:42', { environment: 'staging' })).toEqual([]);
  expect(await found('release:1.3*')).toEqual(['Alpha', 'Beta']);
  expect(await found('tag.customer:acme*')).toEqual(['Beta']);
  expect(await found('tag.customer:acme')).toEqual([]);
  expect(await found('file:checkout.ts')).toEqual(['Gamma']);
  expect(await found('transaction:/pay')).toEqual(['Gamma']);
  expect(await found('url:shop.example.com/pay')).toEqual(['Delta']);
  expect(await found('message:"the \\"bank\\" is 100%"')).toEqual(['Gamma']);
  expect(await found('env:production delta')).toEqual(['Delta']);
  expect(await found('new:1.2.0')).toEqual(['Alpha']);
  expect(await found('', { newInRelease: '1.3.0' })).toEqual(['Beta']);
});

test('a search that cannot be read says at its field what to write', async () => {
  await expect(found('colour:red')).rejects.toMatchObject({
    code: 'invalid_input',
    faults: [{ path: 'query', message: expect.stringContaining('tag.colour:red') }],
  });
});

test('no search reaches the exceptions of another organization', async () => {
  await arrive('Alpha', user('42'));
  const other = await w.given.organization();
  const stranger = memberCaller(other.orgId, other.owner.userId, 'owner');
  expect(await run(w, browseExceptionGroups, stranger, { query: 'user:42' })).toMatchObject({ groups: [] });
});

test('the users and the events of an exception are listed page by page', async () => {
  const groupId = await arrive('Alpha', { ...user('1'), release: '1.0' });
  w.clock.advance({ minutes: 1 });
  await arrive('Alpha', user('2', 'two@example.com'));
  w.clock.advance({ minutes: 1 });
  await arrive('Alpha', { ...user('1'), environment: null });
  const first = await run(w, listExceptionUsers, editor, { groupId, limit: 1 });
  expect(first.users).toMatchObject([{ user: '1', name: null, kind: 'id', events: 2 }]);
  const second = await run(w, listExceptionUsers, editor, { groupId, limit: 1, cursor: first.nextCursor });
  expect(second).toMatchObject({ users: [{ user: '2', name: 'two@example.com', events: 1 }], nextCursor: null });
  const newest = await run(w, browseExceptionEvents, editor, { groupId, limit: 2 });
  expect(newest.events).toMatchObject([
    { user: '1', environment: null },
    { user: 'two@example.com', severity: 'error' },
  ]);
  const rest = await run(w, browseExceptionEvents, editor, { groupId, limit: 2, cursor: newest.nextCursor });
  expect(rest).toMatchObject({ events: [{ user: '1', release: '1.0' }], nextCursor: null });
  const { hours } = await run(w, getExceptionOverview, editor, { groupId });
  expect(hours).toHaveLength(24);
  expect(hours.reduce((sum: number, { count }: { count: number }) => sum + count, 0)).toBe(3);
});

test('searches are kept for oneself or shared, and only their owner changes them', async () => {
  const colleague = memberCaller(w.orgId, (await w.given.user({ role: 'editor' })).userId, 'editor');
  const viewer = memberCaller(w.orgId, w.owner.userId, 'viewer');
  const filter = { assigned: 'my_teams', q: 'file:checkout.ts' };
  const shared = await run(w, saveSearch, editor, { name: 'Ours', filter, isShared: true });
  const result = await run(w, saveSearch, editor, { name: 'Mine', filter, isShared: false });
  const namesOf = async (caller: Caller) =>
    (await run(w, listSavedSearches, caller, {})).searches.map(({ name }: { name: string }) => name);
  expect(await namesOf(editor)).toEqual(['Mine', 'Ours']);
  expect(await namesOf(colleague)).toEqual(['Ours']);
  await expect(run(w, deleteSavedSearch, colleague, { searchId: shared.searchId })).rejects.toMatchObject({
    code: 'not_found',
  });
  await expect(run(w, saveSearch, viewer, { name: 'New', filter, isShared: true })).rejects.toMatchObject({
    code: 'forbidden',
  });
  await expect(run(w, saveSearch, editor, { name: 'Ours', filter, isShared: false })).rejects.toMatchObject({
    faults: [{ path: 'name' }],
  });
  await expect(
    run(w, saveSearch, editor, { name: 'Bad', filter: { q: 'colour:red' }, isShared: false }),
  ).rejects.toMatchObject({ faults: [{ path: 'filter.q' }] });
  await run(w, saveSearch, editor, { searchId: result.searchId, name: 'Renamed', filter: {}, isShared: false });
  await run(w, deleteSavedSearch, editor, { searchId: shared.searchId });
  expect(await namesOf(editor)).toEqual(['Renamed']);
});

test('whoever asks is told once that a resolved exception is back', async () => {
  const groupId = await arrive('Alpha');
  await run(w, watchException, editor, { groupId, isWatched: true });
  await arrive('Alpha');
  await w.runUntilIdle();
  expect(post.mails).toEqual([]);
  for (let time = 0; time < 2; time += 1) {
    w.clock.advance({ minutes: 1 });
    await w.expectOk('set_exception_status', { groupId, status: 'resolved' });
    w.clock.advance({ minutes: 1 });
    await arrive('Alpha', { release: '2.0' });
    await w.runUntilIdle();
  }
  expect(post.mails).toMatchObject([
    { recipients: [w.owner.email], subject: expect.stringContaining('Back again: Alpha') },
  ]);
  expect(await run(w, getExceptionOverview, editor, { groupId })).toMatchObject({ isWatched: false });
});

test('a rule with conditions opens incidents for what meets them, of its own severity, and its replay agrees', async () => {
  const settings = { inEnvironment: 'prod*', withTag: 'customer:acme*', withText: 'ALPHA', incidentSeverity: 'fatal' };
  const rule = { serviceId, name: 'New in production', kind: 'exception', config: {}, settings };
  await run(w, addAlertRule, memberCaller(w.orgId, w.owner.userId, 'owner'), rule);
  const acme = { environment: 'production', tags: { customer: 'acme' } };
  await arriveTogether([
    ['Alpha', acme],
    ['AlphaElsewhere', { ...acme, environment: 'staging' }],
    ['AlphaOther', { ...acme, tags: { customer: 'other' } }],
    ['Beta', acme],
  ]);
  const { incidents } = await w.expectOk('list_incidents', { serviceId });
  expect(incidents).toMatchObject([{ severity: 'fatal' }]);
  const replay = { serviceId, minSeverity: 'error', settings, days: 14 };
  expect(await run(w, replayExceptionRule, editor, replay)).toMatchObject({
    incidentCount: 1,
    incidents: [{ severity: 'fatal', outcome: 'new', title: expect.stringMatching(/^Alpha:/) }],
    isCut: false,
  });
  expect(await run(w, replayExceptionRule, editor, { ...replay, settings: {} })).toMatchObject({ incidentCount: 4 });
  await w.expectOk('set_retention', { serviceId, capability: 'exceptions', retentionDays: 3 });
  const since = w.clock
    .now()
    .subtract({ hours: 3 * 24 })
    .toString({ smallestUnit: 'millisecond' });
  expect(await run(w, replayExceptionRule, editor, replay)).toMatchObject({ since });
});

test('a replay of a rule on a rate tells each time that an exception came too often', async () => {
  const settings = { eventsOver: 2, usersOver: 1, rateMinutes: 5, inEnvironment: 'prod*', withText: 'alpha' };
  const begin = w.clock.now();
  const groupId = await arrive('Alpha', { environment: 'staging', ...user('1') });
  const ignoredId = await arrive('AlphaIgnored', { environment: 'production' });
  const severe = { environment: 'production' };
  await arriveTogether([
    ['Alpha', { ...severe, ...user('1') }],
    ['Alpha', { ...severe, ...user('1') }],
    ['Alpha', { environment: 'staging', ...user('2') }],
    ['Beta', severe],
    ['Beta', severe],
    ['Beta', severe],
    ['AlphaIgnored', severe],
    ['AlphaIgnored', severe],
  ]);
  const replay = { serviceId, minSeverity: 'error', settings, days: 14 };
  await w.expectOk('set_exception_status', { groupId: ignoredId, status: 'ignored' });
  expect(await run(w, replayExceptionRule, editor, replay)).toMatchObject({ incidentCount: 0, incidents: [] });
  for (const minutes of [1, 10]) {
    w.clock.advance({ minutes });
    await arriveTogether([
      ['Alpha', { ...severe, ...user('2') }],
      ['Alpha', { ...severe, ...user('3') }],
    ]);
  }
  const minute = (minutes: number) =>
    begin
      .add({ minutes })
      .round({ smallestUnit: 'minute', roundingMode: 'floor' })
      .toString({ smallestUnit: 'millisecond' });
  const incident = { groupId, outcome: 'rate', severity: 'error', title: expect.stringMatching(/^Alpha:/) };
  expect(await run(w, replayExceptionRule, editor, replay)).toMatchObject({
    incidentCount: 2,
    incidents: [
      { ...incident, at: minute(11), events: 2, users: 2 },
      { ...incident, at: minute(1), events: 4, users: 3 },
    ],
    isCut: false,
  });
  expect(await run(w, replayExceptionRule, editor, { ...replay, minSeverity: 'fatal' })).toMatchObject({
    incidentCount: 0,
  });
});

test('a service assigns its new exceptions and knows where issues are written', async () => {
  const teamId = await w.staff.team();
  const assignmentRules = [{ path: 'src/app.ts', tag: null, assigneeId: teamId }];
  const issueLink = 'https://tracker.example.com/new?title={title}&body={link}';
  const set = (fields: object) =>
    run(w, setExceptionAssignment, editor, { serviceId, trackerId: null, trackerProject: null, ...fields });
  await set({ assignmentRules, issueLink });
  const groupId = await arrive('Alpha & more');
  expect(await run(w, getExceptionOverview, editor, { groupId })).toMatchObject({
    assignedTeamId: teamId,
    newIssueUrl: expect.stringMatching(
      new RegExp(
        `^https://tracker\\.example\\.com/new\\?title=Alpha%20%26%20more.*&body=http%3A%2F%2F.*${groupId}%3Forg%3D${w.orgId}$`,
      ),
    ),
  });
  await expect(
    set({ assignmentRules: [{ path: null, tag: null, assigneeId: 'team_gone' }], issueLink }),
  ).rejects.toMatchObject({ faults: [{ path: 'assignmentRules[0].assigneeId' }] });
  await expect(set({ assignmentRules, issueLink: 'https://{title}.example.com/' })).rejects.toMatchObject({
    faults: [{ path: 'issueLink' }],
  });
  const url = 'https://tracker.example.com/1';
  await run(w, setExceptionIssue, editor, { groupId, url });
  expect(await run(w, getExceptionOverview, editor, { groupId })).toMatchObject({ issueUrl: url });
});
