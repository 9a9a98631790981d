import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { CalendarFeedView, feedOwner, findCalendarFeed } from '#modules/schedules/operations/calendar_feed.ts';
import { calendarUrl, newCalendarSecret } from '#auth/calendar_secret.ts';
import { toTimestamp } from '#kernel/time.ts';

export const createCalendarFeed = defineAction({
  name: 'create_calendar_feed',
  consoleOnly: true,
  summary:
    'Make a secret address of your own under which calendar programs read a schedule, unless you have one. It ends when you leave.',
  permission: 'oncall:edit',
  effect: 'write',
  input: Type.Object({ scheduleId: IdText }, STRICT),
  result: CalendarFeedView,
  example: { scheduleId: EXAMPLE_IDS.scheduleId },
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
