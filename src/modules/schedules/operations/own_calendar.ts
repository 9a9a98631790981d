import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { nullable, Timestamp } from '#actions/fields.ts';
import { calendarUrl, newCalendarSecret } from '#auth/secret_text.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { toTimestamp } from '#kernel/time.ts';
import { callerUser } from '#modules/accounts/view.ts';

const OwnCalendarView = Type.Object({
  url: Type.String({ description: 'everyone who knows it can read your shifts until it is revoked' }),
  createdAt: Timestamp,
});

/** Finds the calendar of the caller; null when there is none. */
async function findOwnCalendar({
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

export const getOwnCalendar = defineOperation({
  name: 'get_own_calendar',
  summary:
    'Show the secret address under which calendar programs read all of your shifts; null when you have none. Each call is recorded in the audit log.',
  permission: 'organization:view',
  effect: 'read',
  result: Type.Object({ calendar: nullable(OwnCalendarView) }),
  async handle(_input, context) {
    const ownCalendar = await findOwnCalendar(context);
    if (ownCalendar === null) return { calendar: null };
    context.recordCredentialRead(ownCalendar.userId);
    return { calendar: { url: ownCalendar.url, createdAt: ownCalendar.createdAt } };
  },
});

export const renewOwnCalendar = defineOperation({
  name: 'renew_own_calendar',
  summary:
    'Make a new secret address under which calendar programs read your shifts in every schedule. The previous address stops working at once, and the new one when you leave the organization.',
  permission: 'organization:view',
  effect: 'write',
  result: OwnCalendarView,
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

export const revokeOwnCalendar = defineOperation({
  name: 'revoke_own_calendar',
  summary: 'Revoke the secret address of your shifts: it stops working from the next request on.',
  permission: 'organization:view',
  effect: 'delete',
  result: Type.Object({ revoked: Type.Literal(true) }),
  async handle(_input, { caller, stores, record }) {
    const userId = callerUser(caller);
    if (!(await stores.ownCalendars.delete(caller.orgId, userId))) {
      throw new AppError('not_found', 'you have no calendar address');
    }
    record({ target: userId, before: { live: true }, after: null });
    return { revoked: true as const };
  },
});
