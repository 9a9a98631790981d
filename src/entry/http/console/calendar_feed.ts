import { Type } from 'typebox';

import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import {
  CalendarFeedView,
  type CalendarSettings,
  createCalendarFeed,
  findCalendarFeed,
  revokeCalendarFeed,
} from '#actions/schedules/calendar_feed.ts';
import { inUnitOfWork } from '#actions/unit_of_work.ts';
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
    summary: 'Tell the secret address under which calendar programs read a schedule; null when it has none.',
    access: 'member',
    result: Type.Object({ scheduleId: IdText, url: nullable(Type.String()), createdAt: nullable(Timestamp) }),
    async handle({ house, caller, params }) {
      const stores = storesOf(house.db.session());
      const schedule = await stores.schedules.find(caller.orgId, params['scheduleId'] ?? '');
      if (schedule === null) throw notFound('scheduleId', 'schedule');
      const feed = await findCalendarFeed(stores, caller, schedule.id, settingsOf(house));
      return feed ?? { scheduleId: schedule.id, url: null, createdAt: null };
    },
  }),
  consoleRoute({
    name: 'create_calendar_feed',
    method: 'POST',
    path: PATH,
    tag: 'Organizations',
    summary: 'Give a schedule a secret address for calendar programs, unless it has one; who may edit on-call may.',
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
    summary: 'Revoke the secret address of a schedule: it is worthless from the next request on.',
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
