import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT } from '#actions/fields.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';
import { OwnCalendarView } from '#modules/schedules/operations/own_calendar.ts';
import { calendarUrl, newCalendarSecret } from '#auth/calendar_secret.ts';
import { toTimestamp } from '#kernel/time.ts';

export const renewOwnCalendar = defineAction({
  name: 'renew_own_calendar',
  consoleOnly: true,
  summary:
    'Make a new secret address under which calendar programs read your shifts in every schedule. The previous address stops working at once, and the new one when you leave the organization.',
  permission: 'organization:view',
  effect: 'write',
  input: Type.Object({}, STRICT),
  result: OwnCalendarView,
  example: {},
  async handle(_input, { caller, stores, now, baseUrl, installation, record }) {
    const { orgId } = caller;
    const { userId } = await stores.people.lockMembership(orgId, callerUser(caller));
    const before = await stores.ownCalendars.find(orgId, userId);
    const { secret, ...kept } = newCalendarSecret(installation.ciphers.calendarFeeds);
    await stores.ownCalendars.replace({ orgId, userId, ...kept, createdAt: now });
    const createdAt = toTimestamp(now);
    record({
      target: userId,
      before: before && { createdAt: toTimestamp(before.createdAt) },
      after: { live: true, createdAt },
    });
    return { url: calendarUrl(baseUrl, secret), createdAt };
  },
});
