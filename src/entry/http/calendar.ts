import { createHash } from 'node:crypto';

import type { FastifyInstance } from 'fastify';

import { calendarSecretHash } from '#auth/secret_text.ts';
import { calendarShifts } from '#modules/schedules/decide/calendar_shifts.ts';
import { escapeLineText, onOneLine } from '#modules/schedules/decide/ics_dates.ts';
import { hasVersion } from '#entry/http/docs/asset.ts';
import type { AppContext } from '#entry/compose.ts';
import { AppError } from '#kernel/errors.ts';
import { nextTurn } from '#kernel/cooperative_task.ts';
import type { Id } from '#kernel/ids.ts';
import { fromEpochMilliseconds, isAtOrBefore, type Temporal, toDate } from '#kernel/time.ts';
import type { CalendarFeedRow, CalendarStamp, OwnCalendarRow } from '#modules/schedules/store/calendar_store.ts';
import type { ScheduleShifts } from '#modules/schedules/store/on_call_reader.ts';
import { type Stores, storesOf } from '#modules/stores.ts';

const DAYS_BACK = 14;
const DAYS_AHEAD = 90;
/** Limit on the shifts of a calendar: those of an hourly rotation over that time; a calendar with more is of no use. */
const SHIFTS_MAX = 2_500;
/** Limit on the shifts read over all schedules of one person. */
const SHIFTS_LOOKED_AT = 4_000;
/** Events written per turn of the event loop; each takes some 20 µs. */
const EVENTS_A_TURN = 200;
const REFRESH_SECONDS = 3_600;
const FRESH_SECONDS = 300;
const METHOD = /^METHOD:PUBLISH\r\n/m;

/** Serves `GET /api/calendar/{secret}.ics`: a schedule, or one person's shifts, for calendar programs (RFC 5545). */
export function mountCalendar(app: FastifyInstance, context: AppContext): void {
  app.get<{ Params: { file: string } }>('/api/calendar/:file', async (request, reply) => {
    const { file } = request.params;
    const secretHash = file.endsWith('.ics') ? calendarSecretHash(file.slice(0, -'.ics'.length)) : null;
    const now = context.clock.now();
    // The range is the same all day, so that a calendar fetched again is unchanged.
    const today = now.toZonedDateTimeISO('UTC').startOfDay().toInstant();
    const range = { from: today.subtract({ hours: DAYS_BACK * 24 }), to: today.add({ hours: DAYS_AHEAD * 24 }) };
    const calendar = secretHash && (await readCalendar(storesOf(context.db.session()), secretHash, { ...range, now }));
    if (!calendar) throw new AppError('not_found', 'no calendar has this address; it may have been revoked');
    const text = await render(calendar, new URL(context.config.baseUrl).hostname);
    const etag = `"${createHash('sha256').update(text).digest('base64url')}"`;
    void reply.headers({ etag, 'cache-control': `private, max-age=${FRESH_SECONDS}` });
    if (hasVersion(request, etag)) return reply.code(304).send();
    return reply.type('text/calendar; charset=utf-8').send(text);
  });
}

interface CalendarEvent {
  readonly scheduleId: Id<'schedule'>;
  /** People whose shift it is. */
  readonly about: string;
  readonly since: Temporal.Instant;
  readonly until: Temporal.Instant;
  readonly summary: string;
  readonly description: string;
}

interface Calendar {
  readonly name: string;
  readonly about: string | null;
  /** null: calendar programs show their own zone. */
  readonly timezone: string | null;
  readonly events: readonly CalendarEvent[];
  /** Time at which anything that decides the events was last seen to have changed. */
  readonly changedAt: Temporal.Instant;
}

interface TimeRange {
  readonly from: Temporal.Instant;
  readonly to: Temporal.Instant;
  readonly now: Temporal.Instant;
}

/** Time since which a calendar is made of the same, which is noted when it is seen to be made of something else. */
async function stampOf(
  { madeOf: before, changedAt }: { readonly madeOf: Buffer | null; readonly changedAt: Temporal.Instant | null },
  read: { readonly schedules: readonly ReadSchedule[]; readonly about: unknown },
  { from, now }: TimeRange,
  note: (stamp: CalendarStamp) => Promise<void>,
): Promise<Temporal.Instant> {
  // Overrides that ended before are forgotten one by one, which changes no event.
  const since = from.toZonedDateTimeISO('UTC').with({ month: 1, day: 1 }).startOfDay().toInstant();
  const schedules = read.schedules.map(({ schedule: { id, name, teamId }, layered }) => {
    const { timeZone, layers, overrides, holidays } = layered;
    const counted = overrides.filter(({ endAt }) => isAtOrBefore(since, endAt));
    return { id, name, teamId, timeZone, layers, overrides: counted, holidays: [...holidays] };
  });
  const text = JSON.stringify([schedules, read.about, process.versions.tz]);
  const madeOf = createHash('sha256').update(text).digest();
  if (changedAt !== null && before?.equals(madeOf) === true) return changedAt;
  const changes = read.schedules.map((of) => of.changedAt);
  const last = changes.reduce((a, b) => (isAtOrBefore(a, b) ? b : a), fromEpochMilliseconds(0));
  // Of a calendar that was read before this was noted, its schedules know best.
  const stamp = { madeOf, changedAt: before === null ? last : now };
  await note(stamp);
  return stamp.changedAt;
}

type ReadSchedule = Pick<ScheduleShifts, 'schedule' | 'layered' | 'changedAt'>;

async function readCalendar(stores: Stores, secretHash: Buffer, range: TimeRange): Promise<Calendar | null> {
  const feed = await stores.calendarFeeds.findBySecret(secretHash);
  if (feed !== null) return await readSchedule(stores, feed, range);
  const calendar = await stores.ownCalendars.findBySecret(secretHash);
  return calendar && (await readPerson(stores, calendar, range));
}

async function readSchedule(stores: Stores, feed: CalendarFeedRow, range: TimeRange): Promise<Calendar | null> {
  const { orgId, scheduleId } = feed;
  const read = await stores.onCall.ofSchedule(orgId, scheduleId, { ...range, limit: SHIFTS_MAX });
  if (read === null) return null;
  const { schedule, layered, shifts, people } = read;
  const about = { people: [...people.values()].map(({ userId, name }) => [userId, name]) };
  return {
    changedAt: await stampOf(feed, { schedules: [read], about }, range, (stamp) =>
      stores.calendarFeeds.stamp(feed, stamp),
    ),
    name: `On call: ${schedule.name}`,
    about: null,
    timezone: schedule.timezone,
    events: [...calendarShifts(shifts, layered, { ...range, limit: SHIFTS_MAX })].map(
      ({ source, userIds, since, until }) => ({
        since,
        until,
        about: userIds.join('-'),
        scheduleId,
        summary: onCallText(userIds.map((userId) => people.get(userId)?.name ?? 'somebody')),
        description: source === 'override' ? `${schedule.name}, in place of the rotation` : schedule.name,
      }),
    ),
  };
}

/** Returns "Anna and Bram are on call". */
function onCallText(names: readonly string[]): string {
  return `${new Intl.ListFormat('en').format(names)} ${names.length === 1 ? 'is' : 'are'} on call`;
}

/** Reads the shifts of a person in every schedule. */
async function readPerson(stores: Stores, calendar: OwnCalendarRow, range: TimeRange): Promise<Calendar | null> {
  const { orgId, userId } = calendar;
  const read = await stores.onCall.ofPerson(orgId, userId, { ...range, limit: SHIFTS_LOOKED_AT });
  if (read === null) return null;
  const teamIds = read.schedules.map(({ schedule }) => schedule.teamId);
  const teams = new Map((await stores.teams.findAll(orgId, teamIds)).map(({ id, name }) => [id, name]));
  const about = { person: read.person.name, people: [...read.people.keys()], teams: [...teams] };
  return {
    changedAt: await stampOf(calendar, { schedules: read.schedules, about }, range, (stamp) =>
      stores.ownCalendars.stamp(calendar, stamp),
    ),
    name: `On call: ${read.person.name}`,
    about: read.isComplete ? null : 'There are too many shifts to show all of them.',
    timezone: null,
    events: read.schedules.flatMap(({ schedule, layered, shifts }) =>
      [...calendarShifts(shifts, layered, { ...range, limit: SHIFTS_MAX })].map(({ source, since, until }) => ({
        since,
        until,
        about: userId,
        scheduleId: schedule.id,
        summary: `On call: ${schedule.name}`,
        description: `${teams.get(schedule.teamId) ?? ''}${source === 'override' ? ', in place of the rotation' : ''}`,
      })),
    ),
  };
}

/**
 * Renders the calendar. An unchanged schedule gives unchanged text, so that calendars change only if the schedule did:
 * events are identified by their start and their person, and stamped with the last change. All times are UTC.
 */
async function render({ name, about, timezone, events, changedAt }: Calendar, host: string): Promise<string> {
  const { default: ical, ICalCalendarMethod, ICalEventTransparency } = await import('ical-generator');
  const calendar = ical({
    // The library escapes the text of events, but not this.
    name: escapeLineText(name),
    ...(about !== null && { description: escapeLineText(about) }),
    prodId: { company: 'Tocsin', product: 'on-call' },
    method: ICalCalendarMethod.PUBLISH,
    ttl: REFRESH_SECONDS,
  });
  for (const [index, { scheduleId, about: who, since, until, summary, description }] of events.entries()) {
    if (index % EVENTS_A_TURN === 0) await nextTurn();
    calendar.createEvent({
      id: `${scheduleId}-${since.epochMilliseconds}-${who}@${host}`,
      stamp: toDate(changedAt),
      lastModified: toDate(changedAt),
      start: toDate(since),
      end: toDate(until),
      summary: onOneLine(summary),
      description: onOneLine(description),
      transparency: ICalEventTransparency.TRANSPARENT,
    });
  }
  const text = `${calendar.toString().trimEnd()}\r\n`;
  // The library would write it behind the events, and properties of a calendar come first (RFC 5545, 3.6).
  return timezone === null ? text : text.replace(METHOD, `$&X-WR-TIMEZONE:${timezone}\r\n`);
}
