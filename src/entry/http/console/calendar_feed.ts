import { Type } from 'typebox';

import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { recordCredentialReads } from '#actions/record_credential_reads.ts';
import {
  CalendarFeedView,
  type CalendarSettings,
  createCalendarFeed,
  findCalendarFeed,
  revokeCalendarFeed,
} from '#actions/schedules/calendar_feed.ts';
import { inUnitOfWork } from '#storage/postgres/unit_of_work.ts';
import { createCipher } from '#auth/cipher.ts';
import type { MemberCaller } from '#auth/sessions.ts';
import { type ConsoleCall, consoleRoute } from '#entry/http/console/route.ts';
import { AppError, notFound } from '#kernel/errors.ts';
import { storesOf } from '#storage/postgres/stores.ts';

const PATH = '/organizations/:org/schedules/:scheduleId/calendar-feed';

export const CALENDAR_FEED_ROUTES = [
  consoleRoute({
    name: 'get_calendar_feed',
    method: 'GET',
    path: PATH,
    tag: 'Organizations',
    summary:
      'Tell your secret address under which calendar programs read a schedule; null when you have none. Each time is recorded in the audit log.',
    access: 'member',
    result: Type.Object({ scheduleId: IdText, url: nullable(Type.String()), createdAt: nullable(Timestamp) }),
    async handle({ house, caller, params, origin }) {
      const stores = storesOf(house.db.session());
      const schedule = await stores.schedules.find(caller.orgId, params['scheduleId'] ?? '');
      if (schedule === null) throw notFound('scheduleId', 'schedule');
      const feed = await findCalendarFeed(stores, caller, schedule.id, settingsOf(house));
      const read = { action: 'get_calendar_feed', targets: [schedule.id], origin };
      if (feed !== null) await recordCredentialReads(house.actions, caller, read);
      return feed ?? { scheduleId: schedule.id, url: null, createdAt: null };
    },
  }),
  consoleRoute({
    name: 'create_calendar_feed',
    method: 'POST',
    path: PATH,
    tag: 'Organizations',
    summary:
      'Make a secret address of your own under which calendar programs read a schedule, unless you have one; who may edit on-call may. It ends when you leave.',
    access: 'member',
    result: CalendarFeedView,
    refusals: ['forbidden'],
    check: async ({ caller }) => requireOncallEdit(caller),
    handle: ({ house, caller, params, origin }) =>
      inUnitOfWork(house.actions, (unit) =>
        createCalendarFeed(unit, caller, params['scheduleId'] ?? '', settingsOf(house), origin),
      ),
  }),
  consoleRoute({
    name: 'revoke_calendar_feed',
    method: 'DELETE',
    path: PATH,
    tag: 'Organizations',
    summary: 'Revoke every secret address of a schedule: they are worthless from the next request on.',
    access: 'member',
    result: Type.Object({ revoked: Type.Literal(true), scheduleId: IdText }),
    refusals: ['forbidden'],
    check: async ({ caller }) => requireOncallEdit(caller),
    handle: ({ house, caller, params, origin }) =>
      inUnitOfWork(house.actions, (unit) => revokeCalendarFeed(unit, caller, params['scheduleId'] ?? '', origin)),
  }),
];

function settingsOf({ config: { appSecret, baseUrl } }: ConsoleCall['house']): CalendarSettings {
  return { cipher: createCipher(appSecret, 'calendar-feeds'), baseUrl };
}

function requireOncallEdit(caller: MemberCaller | null): void {
  if (caller?.permissions.has('oncall:edit') === true) return;
  throw new AppError('forbidden', 'this needs the permission oncall:edit, which your role does not have');
}
