import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { Timestamp } from '#actions/fields.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';
import { calendarUrl } from '#auth/calendar_secret.ts';
import type { Id } from '#kernel/ids.ts';
import { toTimestamp } from '#kernel/time.ts';

export const OwnCalendarView = Type.Object({
  url: Type.String({ description: 'everyone who knows it can read your shifts until it is revoked' }),
  createdAt: Timestamp,
});

/** Finds the calendar of the caller; null when there is none. */
export async function findOwnCalendar({
  caller,
  stores,
  baseUrl,
  installation,
}: ActionContext): Promise<(Static<typeof OwnCalendarView> & { readonly userId: Id<'user'> }) | null> {
  const calendar = await stores.ownCalendars.find(caller.orgId, callerUser(caller));
  if (calendar === null) return null;
  const url = calendarUrl(baseUrl, installation.ciphers.calendarFeeds.decrypt(calendar.secretSealed));
  return { userId: calendar.userId, url, createdAt: toTimestamp(calendar.createdAt) };
}
