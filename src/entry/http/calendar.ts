import { createHash } from 'node:crypto';

import type { FastifyInstance } from 'fastify';
import ical, { ICalCalendarMethod, ICalEventTransparency } from 'ical-generator';

import { calendarSecretHash } from '#auth/calendar_secret.ts';
import type { AppContext } from '#entry/compose.ts';
import { AppError } from '#kernel/errors.ts';
import { type Temporal, toDate } from '#kernel/time.ts';
import type { ScheduleShifts } from '#storage/postgres/on_call_reader.ts';
import { storesOf } from '#storage/postgres/stores.ts';

const DAYS_BACK = 14;
const DAYS_AHEAD = 90;
/** An hourly rotation of that time; a calendar with more is of no use to anybody. */
const SHIFTS_MAX = 2_500;
const REFRESH_SECONDS = 3_600;
const FRESH_SECONDS = 300;

/** `GET /api/calendar/{secret}.ics`: who is on call in a schedule, for calendar programs (RFC 5545). */
export function mountCalendar(app: FastifyInstance, context: AppContext): void {
  app.get<{ Params: { file: string } }>('/api/calendar/:file', async (request, reply) => {
    const { file } = request.params;
    const secretHash = file.endsWith('.ics') ? calendarSecretHash(file.slice(0, -'.ics'.length)) : null;
    const stores = storesOf(context.db.session());
    const feed = secretHash && (await stores.calendarFeeds.findBySecret(secretHash));
    const now = context.clock.now();
    const [from, to] = [now.subtract({ hours: DAYS_BACK * 24 }), now.add({ hours: DAYS_AHEAD * 24 })];
    const found =
      feed && (await stores.onCall.ofSchedule(feed.orgId, feed.scheduleId, { from, to, limit: SHIFTS_MAX }));
    if (!found) throw new AppError('not_found', 'no calendar has this address; it may have been revoked');
    const text = render(found, to, new URL(context.config.baseUrl).hostname);
    const etag = `"${createHash('sha256').update(text).digest('base64url')}"`;
    void reply.headers({ etag, 'cache-control': `private, max-age=${FRESH_SECONDS}` });
    if (request.headers['if-none-match'] === etag) return reply.code(304).send();
    return reply.type('text/calendar; charset=utf-8').send(text);
  });
}

/**
 * The same schedule gives the same text, so that nothing changes in a calendar unless the schedule did: events are known
 * by when they begin and whose they are, and stamped with the last change. All times are UTC.
 */
function render({ schedule, shifts, people, changedAt }: ScheduleShifts, to: Temporal.Instant, host: string): string {
  const calendar = ical({
    name: `On call: ${schedule.name}`,
    prodId: { company: 'Tocsin', product: 'on-call' },
    method: ICalCalendarMethod.PUBLISH,
    ttl: REFRESH_SECONDS,
    x: { 'X-WR-TIMEZONE': schedule.timezone },
  });
  for (const { userId, source, since, until } of shifts) {
    const name = people.get(userId)?.name ?? 'somebody';
    calendar.createEvent({
      id: `${schedule.id}-${since.epochMilliseconds}-${userId}@${host}`,
      stamp: toDate(changedAt),
      lastModified: toDate(changedAt),
      start: toDate(since),
      end: toDate(until ?? to),
      summary: `${name} is on call`,
      description: source === 'override' ? `${schedule.name}, in place of the rotation` : schedule.name,
      transparency: ICalEventTransparency.TRANSPARENT,
    });
  }
  return `${calendar.toString().trimEnd()}\r\n`;
}
