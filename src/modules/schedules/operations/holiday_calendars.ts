import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { IdText, Name, nullable, Timestamp } from '#actions/fields.ts';
import { calendarUrl, newCalendarSecret } from '#auth/secret_text.ts';
import { StrictObject } from '#kernel/action.ts';
import { AppError, type Fault, invalidInput } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { fromEpochMilliseconds, type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { isoOf, parseIsoMs } from '#kernel/wall_clock.ts';
import { callerUser } from '#modules/accounts/view.ts';
import { HOLIDAYS_MAX, readIcsDates } from '#modules/schedules/decide/ics_dates.ts';
import type { HolidayCalendarRow } from '#modules/schedules/store/holiday_calendar_store.ts';

/** Characters of a file that is read once. */
const FILE_LENGTH_MAX = 500_000;
/** Time at which nothing was tried: the address is asked within seconds. */
const NEVER_TRIED = fromEpochMilliseconds(0);

const CalendarView = Type.Object({
  calendarId: IdText,
  name: Type.String(),
  url: nullable(Type.String({ description: 'null: its dates are typed in' })),
  dates: Type.Array(Type.String({ description: 'YYYY-MM-DD' })),
  fetchedAt: nullable(Timestamp),
  fault: nullable(
    Type.String({ description: 'why the address could not be read last time: the last good dates count' }),
  ),
  updatedAt: Timestamp,
  schedules: Type.Array(Type.Object({ scheduleId: IdText, name: Type.String() }), {
    description: 'those with a layer that uses it',
  }),
});

const CALENDAR_FIELDS = {
  name: Name,
  url: Type.Optional(
    nullable(Type.String({ maxLength: 2_000, description: 'https address of an iCalendar file, read every day' })),
  ),
  dates: Type.Optional(
    Type.Array(Type.String({ pattern: String.raw`^\d{4}-\d{2}-\d{2}$`, description: 'a date such as 2027-12-25' }), {
      maxItems: HOLIDAYS_MAX,
    }),
  ),
  file: Type.Optional(
    nullable(Type.String({ maxLength: FILE_LENGTH_MAX, description: 'the text of an iCalendar file, read once' })),
  ),
};

const CALENDAR_EXAMPLE = {
  name: 'Holidays in the Netherlands',
  url: null,
  file: null,
  dates: ['2027-04-27', '2027-12-25', '2027-12-26'],
};

interface CalendarInput {
  readonly url?: string | null | undefined;
  readonly dates?: readonly string[] | undefined;
  readonly file?: string | null | undefined;
}

function calendarFaults({ url, dates }: CalendarInput): readonly Fault[] {
  const isDate = (date: string): boolean => {
    const ms = parseIsoMs(date);
    return ms !== null && isoOf(ms).startsWith(date);
  };
  return [
    ...(url === undefined || url === null || isHttps(url)
      ? []
      : [{ path: 'url', message: 'must be an https address, for example "https://example.com/holidays.ics"' }]),
    ...(dates ?? []).flatMap((date, index) =>
      isDate(date) ? [] : [{ path: `dates[${index}]`, message: `must be a day of the calendar; found "${date}"` }],
    ),
  ];
}

function isHttps(url: string): boolean {
  return URL.canParse(url) && new URL(url).protocol === 'https:';
}

/** Returns the dates that are typed in or that the file has; undefined without either. Throws for two sources at once. */
function datesOf({ url, dates, file }: CalendarInput, now: Temporal.Instant): readonly string[] | undefined {
  const sources = [typeof url === 'string', dates !== undefined, typeof file === 'string'];
  const faults = calendarFaults({ url, dates });
  if (faults.length > 0) throw invalidInput(faults);
  if (sources.filter(Boolean).length > 1) {
    throw invalidInput([{ path: 'dates', message: 'must be left out where url or file is given: one of the three' }]);
  }
  if (file === undefined || file === null) return dates && [...new Set(dates)].sort();
  const read = readIcsDates(file, now.toZonedDateTimeISO('UTC').toPlainDate());
  if (read.kind === 'dates') return read.dates;
  throw invalidInput([{ path: 'file', message: `cannot be read: ${read.fault}` }]);
}

function toCalendarView(
  { id, name, url, dates, fetchedAt, fault, updatedAt }: HolidayCalendarRow,
  schedules: readonly { readonly id: string; readonly name: string }[],
): Static<typeof CalendarView> {
  return {
    calendarId: id,
    name,
    url,
    dates: [...dates],
    fetchedAt: toTimestampOrNull(fetchedAt),
    fault,
    updatedAt: toTimestamp(updatedAt),
    schedules: schedules.map((schedule) => ({ scheduleId: schedule.id, name: schedule.name })),
  };
}

const CALENDARS_MAX = 100;

export const createHolidayCalendar = defineOperation({
  name: 'create_holiday_calendar',
  summary: 'Make a calendar of holidays: of dates that are typed in, of an iCalendar file, or of the address of one.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject(CALENDAR_FIELDS),
  result: CalendarView,
  conflict: 'the organization has as many calendars as it may have',
  example: CALENDAR_EXAMPLE,
  async handle(input, { stores, caller, now, record }) {
    const existing = await stores.holidayCalendars.list(caller.orgId);
    if (existing.length >= CALENDARS_MAX) {
      throw new AppError('conflict', `an organization has at most ${CALENDARS_MAX} calendars; remove one first`);
    }
    const url = input.url ?? null;
    const calendar = await stores.holidayCalendars.insert(
      {
        orgId: caller.orgId,
        name: input.name,
        url,
        dates: datesOf(input, now) ?? [],
        fetchedAt: null,
        triedAt: url === null ? null : NEVER_TRIED,
        fault: null,
      },
      now,
    );
    const after = toCalendarView(calendar, []);
    record({ target: calendar.id, before: null, after });
    return after;
  },
});

export const updateHolidayCalendar = defineOperation({
  name: 'update_holiday_calendar',
  summary:
    'Replace the name of a calendar of holidays, and its dates or its address. Its dates stay until a new address is read.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({ calendarId: IdText, ...CALENDAR_FIELDS }),
  result: CalendarView,
  example: { ...CALENDAR_EXAMPLE },
  async handle({ calendarId, ...input }, { stores, caller, now, record }) {
    const calendar = await stores.holidayCalendars.lock(caller.orgId, calendarId);
    const schedules = await stores.holidayCalendars.listSchedules(caller.orgId, calendar.id);
    const url = input.url === undefined ? calendar.url : input.url;
    const saved = await stores.holidayCalendars.save(
      {
        ...calendar,
        name: input.name,
        url,
        dates: datesOf(input, now) ?? calendar.dates,
        triedAt: url === null ? null : url === calendar.url ? calendar.triedAt : NEVER_TRIED,
        fault: url === calendar.url ? calendar.fault : null,
      },
      now,
    );
    const after = toCalendarView(saved, schedules);
    record({ target: calendar.id, before: toCalendarView(calendar, schedules), after });
    return after;
  },
});

export const deleteHolidayCalendar = defineOperation({
  name: 'delete_holiday_calendar',
  summary: 'Remove a calendar of holidays that no layer uses.',
  permission: 'oncall:edit',
  effect: 'delete',
  input: StrictObject({ calendarId: IdText }),
  result: Type.Object({ deleted: Type.Literal(true), calendarId: IdText }),
  conflict: 'a layer uses it',
  async handle({ calendarId }, { stores, caller, record }) {
    const calendar = await stores.holidayCalendars.lock(caller.orgId, calendarId);
    const schedules = await stores.holidayCalendars.listSchedules(caller.orgId, calendar.id);
    if (schedules.length > 0) {
      const names = new Intl.ListFormat('en').format(schedules.slice(0, 5).map(({ name }) => `"${name}"`));
      throw new AppError('conflict', `layers of ${names} use this calendar; take it out of them first`);
    }
    record({ target: calendar.id, before: toCalendarView(calendar, []), after: null });
    await stores.holidayCalendars.delete(calendar.id);
    return { deleted: true as const, calendarId: calendar.id };
  },
});

export const listHolidayCalendars = defineOperation({
  name: 'list_holiday_calendars',
  summary: 'List the calendars of holidays, with their dates, and why an address cannot be read.',
  permission: 'oncall:view',
  effect: 'read',
  result: Type.Object({ calendars: Type.Array(CalendarView) }),
  async handle(_input, { stores, caller }) {
    const calendars = await stores.holidayCalendars.list(caller.orgId);
    const views: Static<typeof CalendarView>[] = [];
    for (const calendar of calendars) {
      views.push(toCalendarView(calendar, await stores.holidayCalendars.listSchedules(caller.orgId, calendar.id)));
    }
    return { calendars: views };
  },
});

export const refreshHolidayCalendar = defineOperation({
  name: 'refresh_holiday_calendar',
  summary: 'Read the address of a calendar of holidays again within seconds, in place of tomorrow.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({ calendarId: IdText }),
  result: CalendarView,
  conflict: 'its dates are typed in',
  async handle({ calendarId }, { stores, caller, now, record }) {
    const calendar = await stores.holidayCalendars.lock(caller.orgId, calendarId);
    if (calendar.url === null) throw new AppError('conflict', 'the dates of this calendar are typed in');
    const saved = await stores.holidayCalendars.save({ ...calendar, triedAt: NEVER_TRIED }, now);
    const view = toCalendarView(saved, await stores.holidayCalendars.listSchedules(caller.orgId, calendar.id));
    record({ target: calendar.id, before: null, after: { refreshed: true } });
    return view;
  },
});

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
