import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, StrictObject } from '#actions/fields.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { framesOf, reportedException } from '#modules/exceptions/decide/event.ts';
import {
  ISSUE_TITLE_LENGTH_MAX,
  issueRequest,
  type IssueText,
  issueTitleOf,
  newIssueRequest,
  readIssue,
  stackLineOf,
  trackerDeclarationOf,
  type TrackerRefusal,
  type TrackerSettings,
} from '#modules/exceptions/decide/issue_tracker.ts';
import { readGroupTotals } from '#modules/exceptions/operations/group_work.ts';
import { callTracker } from '#modules/exceptions/operations/issue_trackers.ts';
import { scopeOf } from '#modules/exceptions/operations/view.ts';
import { recordActivity } from '#modules/exceptions/assignees.ts';
import type { ExceptionGroupRow } from '#modules/exceptions/store/exception_group_store.ts';
import type { IssueTrackerStore } from '#modules/exceptions/store/issue_tracker_store.ts';
import { linkTo, PAGES } from '#modules/pages/decide/pages.ts';

/** Time after which a creation that never ended may be tried again. */
const CLAIM_SECONDS = 60;

const FRAMES_SHOWN = 15;
const MESSAGE_LENGTH_MAX = 1_000;

export const createExceptionIssue = defineOperation({
  name: 'create_exception_issue',
  summary:
    'Create an issue about an exception group in the tracker of its service, with a link back and the top of the stack, ' +
    'and link both.',
  permission: 'exceptions:edit',
  effect: 'write',
  input: StrictObject({
    groupId: IdText,
    title: Type.String({ minLength: 1, maxLength: ISSUE_TITLE_LENGTH_MAX, pattern: '\\S' }),
  }),
  result: Type.Object({ groupId: IdText, number: Type.String(), url: Type.String() }),
  conflict:
    'the group has an issue, somebody is creating it, its service has no tracker, or the tracker refuses its settings',
  example: { title: 'PaymentError: card <*> was declined' },
  async prepare({ groupId, title }, context) {
    const { caller, stores, installation, now } = context;
    const group = await stores.exceptionGroups.get(caller.orgId, groupId, now);
    const tracker = await stores.issueTrackers.findOfService(caller.orgId, group.serviceId);
    if (tracker === null) throw new AppError('conflict', 'no issue tracker is set up; an owner or admin adds one');
    const text = await textOf(group, title, context);
    if (group.issueUrl !== null) throw new AppError('conflict', 'this exception has an issue already');
    const { id: trackerId, project } = tracker;
    const claim = { groupId: group.id, trackerId, project };
    if (!(await stores.issueTrackers.claim(claim, now, now.add({ seconds: CLAIM_SECONDS })))) {
      throw new AppError('conflict', 'somebody is creating an issue for this exception right now');
    }
    const token = installation.ciphers.issueTrackers.decrypt(tracker.sealed);
    const { answer, refusal } = await callTracker(context, tracker, newIssueRequest(tracker, token, text));
    const issue = refusal === null ? readIssue(tracker, answer) : null;
    if (issue !== null) return { ...issue, tracker };
    await stores.issueTrackers.forgetIssue(group.id);
    throw refusedIssue(tracker, refusal);
  },
  async handle({ groupId }, context, { number, url, tracker }) {
    const { caller, stores, now, record } = context;
    await stores.exceptionGroups.lockInOrder(caller.orgId, [groupId]);
    const { id, issueUrl } = await stores.exceptionGroups.get(caller.orgId, groupId, now);
    await stores.groupAssignments.saveIssue(id, url, now);
    const trackers = await stores.issueTrackers.list(caller.orgId);
    const trackerId = trackers.find((other) => other.id === tracker.id)?.id ?? null;
    await stores.issueTrackers.saveIssue({
      groupId: id,
      trackerId,
      project: tracker.project,
      number,
      claimedUntil: now,
    });
    record({ target: id, before: { issueUrl }, after: { issueUrl: url } });
    await recordActivity(context, id, { kind: 'issue', url });
    return { groupId: id, number, url };
  },
});

/** Returns the error for an issue that was not created, in words that say who can do what about it. */
function refusedIssue({ kind }: TrackerSettings, refusal: TrackerRefusal | null): AppError {
  const { title } = trackerDeclarationOf(kind);
  if (refusal === null) {
    return new AppError('unavailable', `${title} did not say which issue it created; look there before you try again`);
  }
  const { field, message, retryAfterSeconds } = refusal;
  if (field === 'title') return invalidInput([{ path: 'title', message }]);
  if (field === 'address') {
    return new AppError(
      'unavailable',
      `${message}; if it was only slow, the issue may be there: look before you try again`,
    );
  }
  if (field === null) return new AppError('unavailable', message, { ...(retryAfterSeconds && { retryAfterSeconds }) });
  return new AppError('conflict', `${message}; an owner or admin changes it in Settings, Integrations`);
}

/** Writes what a developer needs to begin: where, how often, since when, and the top of the newest event's stack. */
async function textOf(group: ExceptionGroupRow, title: string, context: ActionContext): Promise<IssueText> {
  const { caller, stores, exceptions, sourceMaps, now, baseUrl } = context;
  const { orgId, serviceId } = group;
  const newest = { limit: 1, sampling: { sample: 1, tags: 1, values: 1 } };
  const [service, totalsOf, { events }] = await Promise.all([
    stores.services.get(caller.orgId, serviceId),
    readGroupTotals(context, [group]),
    exceptions.readNewest(scopeOf(group, now), newest),
  ]);
  const mapped = await sourceMaps.mapEvents(
    events.map((event) => ({ orgId, serviceId, event })),
    'reader',
  );
  const event = mapped[0]?.event;
  const exception = event === undefined ? null : reportedException(event);
  const frames = event === undefined || exception === null ? [] : framesOf(event, exception);
  const { events: eventCount, users } = totalsOf(group);
  const facts = {
    Service: service.name,
    Message: exception?.value ?? event?.message ?? null,
    Where: group.culprit,
    Events: `${eventCount}${users === 0 ? '' : `, of ${users} ${users === 1 ? 'user' : 'users'}`}`,
    'First seen': `${toTimestamp(group.firstSeenAt)}${group.firstRelease === null ? '' : ` in ${group.firstRelease}`}`,
  };
  return {
    title: issueTitleOf(title),
    link: linkTo(baseUrl, `${PAGES.exceptions}/${group.id}`, caller.orgId),
    facts: Object.entries(facts).flatMap(([label, value]) => {
      const line = value?.replaceAll(/\s+/g, ' ').trim().slice(0, MESSAGE_LENGTH_MAX).toWellFormed() ?? '';
      return line === '' ? [] : [{ label, value: line }];
    }),
    stack: frames.slice(-FRAMES_SHOWN).toReversed().map(stackLineOf),
  };
}

/** Time in which a tracker is not asked for the state of an issue again. */
const STATE_MINUTES = 5;

/** State of an issue as its tracker has told it last. */
export const IssueStateView = Type.Object({
  state: nullable(Type.String({ description: 'in the words of the tracker; null if it has never said' })),
  isDone: Type.Boolean(),
  at: nullable(Type.String({ format: 'date-time', description: 'when the tracker said so' })),
});

export function toIssueState({ state, isDone, stateAt }: StoredState): Static<typeof IssueStateView> {
  return { state, isDone, at: toTimestampOrNull(stateAt) };
}

type StoredState = Pick<
  NonNullable<Awaited<ReturnType<IssueTrackerStore['findIssue']>>>,
  'state' | 'isDone' | 'stateAt'
>;

export const getExceptionIssue = defineOperation({
  name: 'get_exception_issue',
  summary: `Tell the state of the issue that was created for an exception group. Its tracker is asked at most once in ${STATE_MINUTES} minutes.`,
  permission: 'exceptions:view',
  effect: 'read',
  input: StrictObject({ groupId: IdText }),
  result: Type.Object({
    number: nullable(Type.String()),
    ...IssueStateView.properties,
    fault: nullable(Type.String({ description: 'why the tracker does not say the state now' })),
  }),
  async prepare({ groupId }, context) {
    const { caller, stores, installation, now } = context;
    const { id } = await stores.exceptionGroups.get(caller.orgId, groupId, now);
    const issue = await stores.issueTrackers.findIssue(id);
    if (issue === null || issue.number === null) {
      return { number: null, state: null, isDone: false, at: null, fault: null };
    }
    const last = { number: issue.number, ...toIssueState(issue), fault: null };
    const since = now.subtract({ minutes: STATE_MINUTES });
    if (issue.trackerId === null || !(await stores.issueTrackers.claimState(id, now, since))) return last;
    const tracker = { ...(await stores.issueTrackers.get(caller.orgId, issue.trackerId)), project: issue.project };
    const token = installation.ciphers.issueTrackers.decrypt(tracker.sealed);
    const { answer, refusal } = await callTracker(context, tracker, issueRequest(tracker, token, issue.number));
    const read = refusal === null ? readIssue(tracker, answer) : null;
    if (read === null) return { ...last, fault: refusal === null ? 'it answered with no issue' : refusal.message };
    const state = { state: read.state, isDone: read.isDone, stateAt: now };
    await stores.issueTrackers.saveState(id, state);
    return { ...last, ...toIssueState(state) };
  },
  async handle(_input, _context, issue) {
    return issue;
  },
});
