import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { calendarUrl, newCalendarSecret } from '#auth/secret_text.ts';
import { AppError, notFound } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { toTimestamp } from '#kernel/time.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';

const CalendarFeedView = Type.Object({
  scheduleId: IdText,
  url: Type.String({ description: 'everyone who knows it can read the schedule until it is revoked' }),
  createdAt: Timestamp,
});

/** Finds the calendar feed of the caller; null when there is none. */
async function findCalendarFeed(
  { stores, caller, baseUrl, installation }: ActionContext,
  scheduleId: string,
): Promise<Static<typeof CalendarFeedView> | null> {
  const feed = await stores.calendarFeeds.findLive(caller.orgId, scheduleId, feedOwner(caller));
  if (feed === null) return null;
  const url = calendarUrl(baseUrl, installation.ciphers.calendarFeeds.decrypt(feed.secretSealed));
  return { scheduleId: feed.scheduleId, url, createdAt: toTimestamp(feed.createdAt) };
}

/** Returns the person whose feed it is; null for the command line, which acts for no person. */
function feedOwner({ actor }: Caller): Id<'user'> | null {
  return actor.kind === 'user' ? actor.userId : null;
}

export const createCalendarFeed = defineOperation({
  name: 'create_calendar_feed',
  summary:
    'Make a secret address of your own under which calendar programs read a schedule, unless you have one. It ends when you leave.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({ scheduleId: IdText }),
  result: CalendarFeedView,
  async handle({ scheduleId }, context) {
    const { caller, stores, now, baseUrl, installation, record } = context;
    const schedule = await stores.schedules.lock(caller.orgId, scheduleId);
    const existing = await findCalendarFeed(context, schedule.id);
    if (existing !== null) return existing;
    const { secret, ...kept } = newCalendarSecret(installation.ciphers.calendarFeeds);
    const feed = { orgId: caller.orgId, userId: feedOwner(caller), scheduleId: schedule.id, ...kept };
    await stores.calendarFeeds.insert(feed, now);
    record({ target: schedule.id, before: null, after: { live: true } });
    return { scheduleId: schedule.id, url: calendarUrl(baseUrl, secret), createdAt: toTimestamp(now) };
  },
});

export const getCalendarFeed = defineOperation({
  name: 'get_calendar_feed',
  summary:
    'Show your secret address under which calendar programs read a schedule; null when you have none. Each call is recorded in the audit log.',
  permission: 'organization:view',
  effect: 'read',
  input: StrictObject({ scheduleId: IdText }),
  result: Type.Object({ scheduleId: IdText, url: nullable(Type.String()), createdAt: nullable(Timestamp) }),
  async handle({ scheduleId }, context) {
    const schedule = await context.stores.schedules.find(context.caller.orgId, scheduleId);
    if (schedule === null) throw notFound('scheduleId', 'schedule');
    const feed = await findCalendarFeed(context, schedule.id);
    if (feed !== null) context.recordCredentialRead(schedule.id);
    return feed ?? { scheduleId: schedule.id, url: null, createdAt: null };
  },
});

export const revokeCalendarFeed = defineOperation({
  name: 'revoke_calendar_feed',
  summary: 'Revoke every secret address of a schedule: they stop working from the next request on.',
  permission: 'oncall:edit',
  effect: 'delete',
  input: StrictObject({ scheduleId: IdText }),
  result: Type.Object({ revoked: Type.Literal(true), scheduleId: IdText }),
  async handle({ scheduleId }, { caller, stores, now, record }) {
    const schedule = await stores.schedules.lock(caller.orgId, scheduleId);
    if (!(await stores.calendarFeeds.revoke(caller.orgId, schedule.id, now))) {
      throw new AppError('not_found', 'this schedule has no active calendar address');
    }
    record({ target: schedule.id, before: { live: true }, after: null });
    return { revoked: true as const, scheduleId: schedule.id };
  },
});
