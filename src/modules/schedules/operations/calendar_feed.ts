import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { IdText, Timestamp } from '#actions/fields.ts';
import { calendarUrl } from '#auth/calendar_secret.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import type { Id } from '#kernel/ids.ts';
import { toTimestamp } from '#kernel/time.ts';

export const CalendarFeedView = Type.Object({
  scheduleId: IdText,
  url: Type.String({ description: 'everyone who knows it can read the schedule until it is revoked' }),
  createdAt: Timestamp,
});

/** Finds the calendar feed of the caller; null when there is none. */
export async function findCalendarFeed(
  { stores, caller, baseUrl, installation }: ActionContext,
  scheduleId: string,
): Promise<Static<typeof CalendarFeedView> | null> {
  const feed = await stores.calendarFeeds.findLive(caller.orgId, scheduleId, feedOwner(caller));
  if (feed === null) return null;
  const url = calendarUrl(baseUrl, installation.ciphers.calendarFeeds.decrypt(feed.secretSealed));
  return { scheduleId: feed.scheduleId, url, createdAt: toTimestamp(feed.createdAt) };
}

/** Returns the person whose feed it is; null for the command line, which acts for no person. */
export function feedOwner({ actor }: Caller): Id<'user'> | null {
  return actor.kind === 'user' ? actor.userId : null;
}
