import { type Static, Type } from 'typebox';

import { IdText, Timestamp } from '#actions/fields.ts';
import type { UnitOfWork } from '#storage/postgres/unit_of_work.ts';
import { calendarUrl, newCalendarSecret } from '#auth/calendar_secret.ts';
import type { Cipher } from '#auth/cipher.ts';
import type { Caller, RequestOrigin } from '#kernel/caller.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { toTimestamp } from '#kernel/time.ts';
import type { Stores } from '#storage/postgres/stores.ts';

export const CalendarFeedView = Type.Object({
  scheduleId: IdText,
  url: Type.String({ description: 'whoever knows it can read the schedule, until it is revoked' }),
  createdAt: Timestamp,
});

/** What addresses are made of. */
export interface CalendarSettings {
  readonly cipher: Cipher;
  readonly baseUrl: string;
}

/**
 * The caller's own secret address of the schedule, a new one if they have none; that of somebody who leaves the organization
 * ends. Throws `not_found` without such a schedule.
 */
export async function createCalendarFeed(
  unit: Pick<UnitOfWork, 'stores' | 'now'>,
  caller: Caller,
  scheduleId: string,
  settings: CalendarSettings,
  origin: RequestOrigin,
): Promise<Static<typeof CalendarFeedView>> {
  const schedule = await unit.stores.schedules.lock(caller.orgId, scheduleId);
  const existing = await findCalendarFeed(unit.stores, caller, schedule.id, settings);
  if (existing !== null) return existing;
  const { secret, ...kept } = newCalendarSecret(settings.cipher);
  await unit.stores.calendarFeeds.insert(
    { orgId: caller.orgId, userId: ownerOf(caller), scheduleId: schedule.id, ...kept },
    unit.now,
  );
  await record(unit, caller, 'create_calendar_feed', schedule.id, origin);
  return { scheduleId: schedule.id, url: calendarUrl(settings.baseUrl, secret), createdAt: toTimestamp(unit.now) };
}

/** Null when the caller has none. */
export async function findCalendarFeed(
  stores: Stores,
  caller: Caller,
  scheduleId: string,
  { cipher, baseUrl }: CalendarSettings,
): Promise<Static<typeof CalendarFeedView> | null> {
  const feed = await stores.calendarFeeds.findLive(caller.orgId, scheduleId, ownerOf(caller));
  if (feed === null) return null;
  const url = calendarUrl(baseUrl, cipher.decrypt(feed.secretSealed));
  return { scheduleId: feed.scheduleId, url, createdAt: toTimestamp(feed.createdAt) };
}

/** The command line is nobody. */
function ownerOf({ actor }: Caller): Id<'user'> | null {
  return actor.kind === 'user' ? actor.userId : null;
}

/** Every address of the schedule is worthless from the next request on. Throws `not_found` when there is none. */
export async function revokeCalendarFeed(
  unit: Pick<UnitOfWork, 'stores' | 'now'>,
  caller: Caller,
  scheduleId: string,
  origin: RequestOrigin,
): Promise<{ revoked: true; scheduleId: string }> {
  const schedule = await unit.stores.schedules.lock(caller.orgId, scheduleId);
  if (!(await unit.stores.calendarFeeds.revoke(caller.orgId, schedule.id, unit.now))) {
    throw new AppError('not_found', 'this schedule has no calendar address that is not revoked already');
  }
  await record(unit, caller, 'revoke_calendar_feed', schedule.id, origin);
  return { revoked: true, scheduleId: schedule.id };
}

async function record(
  { stores, now }: Pick<UnitOfWork, 'stores' | 'now'>,
  { orgId, actor, via }: Caller,
  action: string,
  scheduleId: Id<'schedule'>,
  origin: RequestOrigin,
): Promise<void> {
  const isNew = action === 'create_calendar_feed';
  const [before, after] = isNew ? [null, { live: true }] : [{ live: true }, null];
  await stores.audit.append(
    { orgId, actor, via, action, target: scheduleId, before, after, result: 'done', origin },
    now,
  );
}
