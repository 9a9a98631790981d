import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import type { AnyOperation } from '#actions/action_context.ts';
import { listAuditLog } from '#modules/audit/operations/list_audit_log.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import { setExceptionIssue } from '#modules/exceptions/operations/activity.ts';
import { getExceptionAssignment, setExceptionAssignment } from '#modules/exceptions/operations/assignment.ts';
import { getExceptionOverview } from '#modules/exceptions/operations/get_exception_overview.ts';
import { createExceptionIssue, getExceptionIssue } from '#modules/exceptions/operations/exception_issues.ts';
import {
  createIssueTracker,
  deleteIssueTracker,
  listIssueTrackers,
  updateIssueTracker,
} from '#modules/exceptions/operations/issue_trackers.ts';
import type { Id } from '#kernel/ids.ts';
import { toTimestamp } from '#kernel/time.ts';
import { eventAt, groupAndStore } from '#test/modules/exceptions/given_events.ts';
import {
  type IssueTrackers,
  startIssueTrackers,
  TRACKER_ACCOUNT,
  TRACKER_TOKEN,
} from '#test/kit/programs/issue_trackers.ts';
import { sweep } from '#test/kit/properties.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld, type World } from '#test/kit/world.ts';

let vendors: IssueTrackers;
const shared = await fileWorld();
let w: World;
let owner: Caller;
let editor: Caller;
let serviceId: Id<'service'>;

beforeAll(async () => {
  vendors = await startIssueTrackers();
});

afterAll(async () => await vendors.close());

beforeEach(async () => {
  vendors.answer();
  w = await shared.forOrganization();
  owner = memberCaller(w.orgId, w.owner.userId, 'owner');
  editor = memberCaller(w.orgId, w.owner.userId, 'editor');
  ({ serviceId } = await w.given.service());
});

const run = (operation: AnyOperation, input: object, caller = owner) => runOperation(w, operation, caller, input);

const settingsOf = (kind: 'github' | 'gitlab' | 'jira') => ({
  kind,
  address: `${vendors.url}/${kind}/`,
  project: kind === 'jira' ? 'SHOP' : 'acme/shop',
  token: TRACKER_TOKEN,
  ...(kind === 'jira' && { account: TRACKER_ACCOUNT }),
});

const addTracker = async (kind: 'github' | 'gitlab' | 'jira', more = {}) =>
  (await run(createIssueTracker, { ...settingsOf(kind), ...more })).tracker;

/** A group of one event whose message would mention people and close the issue. */
async function makeGroup(): Promise<string> {
  const event = eventAt(w, {});
  const [exception] = event.exceptions;
  const value = 'card ```` @everyone\n/close was declined';
  const exceptions = [{ ...exception!, type: 'PaymentError', value }];
  const [group] = await groupAndStore(w, serviceId, [{ ...event, exceptions }]);
  return group!.groupId;
}

const create = (groupId: string, title = 'Cards are declined') => run(createExceptionIssue, { groupId, title }, editor);
const overviewOf = (groupId: string) => run(getExceptionOverview, { groupId }, editor);

describe.each([
  { kind: 'github', place: 0, number: /^\d+$/, open: 'open', done: 'closed' },
  { kind: 'gitlab', place: 1, number: /^\d+$/, open: 'opened', done: 'closed' },
  { kind: 'jira', place: 2, number: /^SHOP-\d+$/, open: 'In Progress', done: 'Done' },
] as const)('an issue in $kind', ({ kind, place, number, open, done }) => {
  test('is created with a link back and the stack, is linked, and shows its state', async () => {
    await addTracker(kind);
    const groupId = await makeGroup();
    expect(await overviewOf(groupId)).toMatchObject({ issueUrl: null, tracker: { project: expect.any(String) } });
    const made = await create(groupId);
    const sent = vendors.issues.at(-1)!;
    expect(made).toMatchObject({
      groupId,
      number: expect.stringMatching(number),
      url: expect.stringContaining(String(sent.number)),
    });
    const text = JSON.stringify(sent.body);
    expect(sent.vendor).toBe(kind);
    expect(text).toContain('Cards are declined');
    expect(text).toContain(`${groupId}?org=${w.orgId}`);
    expect(text).toMatch(/charge \(shop\/payments\.py:42\)/);
    expect(await overviewOf(groupId)).toMatchObject({ issueUrl: made.url, issueNumber: made.number, tracker: null });
    expect(await run(getExceptionIssue, { groupId }, editor)).toEqual({
      number: made.number,
      state: open,
      isDone: false,
      at: toTimestamp(w.clock.now()),
      fault: null,
    });
    const opened = { state: open, isDone: false, at: toTimestamp(w.clock.now()) };
    vendors.closeIssue(sent.number);
    // The page shows what was told last, and whoever opens it soon after asks nobody.
    w.clock.advance({ minutes: 4 });
    expect(await run(getExceptionIssue, { groupId }, editor)).toMatchObject(opened);
    expect(await overviewOf(groupId)).toMatchObject({ issueState: opened });
    w.clock.advance({ minutes: 1 });
    const closed = { state: done, isDone: true, at: toTimestamp(w.clock.now()) };
    expect(await run(getExceptionIssue, { groupId }, editor)).toMatchObject(closed);
    expect(await overviewOf(groupId)).toMatchObject({ issueState: closed });
    await expect(create(groupId)).rejects.toMatchObject({ code: 'conflict' });
    const log = await run(listAuditLog, { limit: 20 });
    expect(JSON.stringify(log)).toContain(made.url);
    expect(JSON.stringify(log)).not.toContain(TRACKER_TOKEN);
  });

  test('is refused in words of our own, and nothing stays behind that hinders another try', async () => {
    await addTracker(kind);
    const groupId = await makeGroup();
    const refusals = [
      { reply: { status: 401, body: 'secret words' }, code: 'conflict', message: /does not know the token/ },
      { reply: { status: 403, body: {} }, code: 'conflict', message: /forbids it to this token/ },
      { reply: { status: 404, body: {} }, code: 'conflict', message: /that this token may see; an owner or admin/ },
      {
        reply: { status: 422, body: { message: 'secret words' } },
        code: 'invalid_input',
        message: /does not take this title/,
      },
      {
        reply: { status: 429, body: {}, headers: { 'retry-after': '7' } },
        code: 'unavailable',
        message: /no more requests/,
      },
      { reply: { status: 502, body: 'secret words' }, code: 'unavailable', message: /status 502; try again later/ },
      { reply: { status: 200, body: 'secret words' }, code: 'unavailable', message: /does not answer at this address/ },
      { reply: { status: 201, body: {} }, code: 'unavailable', message: /look there before you try again/ },
    ];
    // The gate tries each refusal with one of the trackers.
    for (const { reply, code, message } of sweep(refusals, 3, place)) {
      vendors.answer(reply);
      const refused = await create(groupId).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code, message: expect.stringMatching(message) });
      expect(String(refused)).not.toContain('secret words');
    }
    vendors.answer();
    expect(await create(groupId)).toMatchObject({ groupId });
  });
});

test('what senders wrote is code in Markdown, so that it mentions nobody and commands nothing', async () => {
  await addTracker('gitlab');
  await create(await makeGroup());
  const { description } = vendors.issues.at(-1)!.body;
  expect(description).toContain('- Message: ````` card ```` @everyone /close was declined `````');
  expect(description).not.toMatch(/^\/close/m);
});

test('two people who create the issue at once make one', async () => {
  await addTracker('github');
  const groupId = await makeGroup();
  const before = vendors.issues.length;
  const outcomes = await Promise.allSettled([create(groupId), create(groupId), create(groupId)]);
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(vendors.issues).toHaveLength(before + 1);
});

test('a tracker that answers nothing holds no connection to the database', async () => {
  await addTracker('github');
  const groupId = await makeGroup();
  const { asked, release } = vendors.hold();
  const slow = create(groupId);
  await asked;
  const { rows } = await sql<{ state: string }>`
    select state from pg_stat_activity where datname = current_database() and state like 'idle in %'
  `.execute(w.context.db.session().db);
  expect(rows).toEqual([]);
  await run(setExceptionIssue, { groupId, url: 'https://tracker.example.com/1' }, editor);
  release();
  const { number, url } = await slow;
  expect(await overviewOf(groupId)).toMatchObject({ issueUrl: url, issueNumber: number });
});

describe('a tracker', () => {
  test.each([
    ['token', { token: 'mistyped' }, /is mistyped, expired or revoked/],
    ['project', { project: 'acme/other' }, /knows no repository acme\/other/],
    ['project', { project: 'shop' }, /must be like acme\/shop/],
    ['project', { project: '../user' }, /must be like acme\/shop/],
    ['project', { project: 'acme/..' }, /must be like acme\/shop/],
    ['address', { address: 'http://127.0.0.1:9/' }, /GitHub: it cannot be reached/],
    ['address', { address: 'github.com' }, /whole address/],
    ['address', { address: 'https://me:secret@github.com' }, /user name or password/],
  ])('is tried before it is saved: a wrong %s is said at its field', async (path, more, message) => {
    const fault = { path, message: expect.stringMatching(message) };
    await expect(run(createIssueTracker, { ...settingsOf('github'), ...more })).rejects.toMatchObject({
      faults: [fault],
    });
    expect(await run(listIssueTrackers, {})).toEqual({ trackers: [] });
  });

  test('of Jira wants the mail address of an account, and a type that needs only a summary', async () => {
    const { account: _, ...without } = settingsOf('jira');
    await expect(run(createIssueTracker, without)).rejects.toMatchObject({ faults: [{ path: 'account' }] });
    const { trackerId } = await addTracker('jira', { issueType: 'Incident' });
    const groupId = await makeGroup();
    await expect(create(groupId)).rejects.toThrow(/wants more of an issue of this type \(customfield_10010\)/);
    const { token: _token, kind: _kind, ...settings } = settingsOf('jira');
    await run(updateIssueTracker, { trackerId, ...settings, issueType: 'Task' });
    await expect(create(groupId)).rejects.toThrow(/no issues of the type Task/);
  });

  test('keeps its token, which is sent to no other address and never shown', async () => {
    const { trackerId } = await addTracker('github');
    const { token: _, kind: _kind, ...settings } = settingsOf('github');
    const elsewhere = { trackerId, ...settings, address: `${vendors.url}/gitlab` };
    const before = vendors.requests();
    await expect(run(updateIssueTracker, elsewhere)).rejects.toMatchObject({ faults: [{ path: 'token' }] });
    expect(vendors.requests()).toBe(before);
    await run(updateIssueTracker, { trackerId, ...settings });
    expect(JSON.stringify(await run(listIssueTrackers, {}))).not.toContain(TRACKER_TOKEN);
    await expect(run(createIssueTracker, settingsOf('github'), editor)).rejects.toMatchObject({ code: 'forbidden' });
  });

  test('is the first of the organization, unless a service names another, a project or an address', async () => {
    await addTracker('github');
    const { trackerId } = await addTracker('gitlab');
    const groupId = await makeGroup();
    expect(await overviewOf(groupId)).toMatchObject({ tracker: { title: 'GitHub', project: 'acme/shop' } });
    const none = { assignmentRules: [], issueLink: null, trackerId: null, trackerProject: null };
    const set = (fields: object) => run(setExceptionAssignment, { serviceId, ...none, ...fields }, editor);
    await set({ issueLink: 'https://tracker.example.com/new?title={title}' });
    expect(await overviewOf(groupId)).toMatchObject({ tracker: null, newIssueUrl: expect.any(String) });
    await set({ trackerId });
    expect(await overviewOf(groupId)).toMatchObject({ tracker: { title: 'GitLab' } });
    await expect(set({ trackerId, trackerProject: 'acme/other' })).rejects.toMatchObject({
      faults: [{ path: 'trackerProject' }],
    });
    await expect(set({ trackerId: 'tracker_gone' })).rejects.toMatchObject({ code: 'not_found' });
    await run(deleteIssueTracker, { trackerId });
    expect(await run(getExceptionAssignment, { serviceId })).toMatchObject({ trackerId: null });
    expect(await overviewOf(groupId)).toMatchObject({ tracker: { title: 'GitHub' } });
  });

  test('that does not answer leaves the state that it told last, with when, and is not asked at each look', async () => {
    await addTracker('github');
    const groupId = await makeGroup();
    await create(groupId);
    const result = await run(getExceptionIssue, { groupId });
    expect(result).toMatchObject({ state: 'open', fault: null });
    w.clock.advance({ minutes: 6 });
    vendors.answer({ status: 500, body: {} });
    expect(await run(getExceptionIssue, { groupId })).toEqual({ ...result, fault: expect.stringContaining('GitHub') });
    const before = vendors.requests();
    expect(await run(getExceptionIssue, { groupId })).toEqual(result);
    expect(vendors.requests()).toBe(before);
  });

  test('that is deleted leaves the link and its number; the state is then not known', async () => {
    const { trackerId } = await addTracker('github');
    const groupId = await makeGroup();
    const { number, url } = await create(groupId);
    await run(deleteIssueTracker, { trackerId });
    expect(await overviewOf(groupId)).toMatchObject({ issueUrl: url, issueNumber: number });
    expect(await run(getExceptionIssue, { groupId })).toEqual({
      number,
      state: null,
      isDone: false,
      at: null,
      fault: null,
    });
    await run(setExceptionIssue, { groupId, url: null }, editor);
    expect(await overviewOf(groupId)).toMatchObject({ issueUrl: null, issueNumber: null });
  });
});

test('a tracker that somebody has changed meanwhile is not overwritten', async () => {
  const { trackerId, address, account, project, issueType } = await addTracker('gitlab');
  const basedOn = { address, account, project, issueType };
  const elsewhere = `${vendors.url}/github/`;
  await run(updateIssueTracker, { trackerId, address, project, token: TRACKER_TOKEN, basedOn });
  const moved = { ...basedOn, address: elsewhere };
  const late = run(updateIssueTracker, { trackerId, address, project, basedOn: moved });
  await expect(late).rejects.toMatchObject({ code: 'conflict' });
});
