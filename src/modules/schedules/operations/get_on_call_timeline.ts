import { type Static, Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { StrictObject } from '#kernel/action.ts';
import { nextTurn } from '#kernel/cooperative_task.ts';
import { invalidInput } from '#kernel/errors.ts';
import { isAtOrBefore, type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { ZoneClock } from '#kernel/zone_clock.ts';
import { PersonColorNumber } from '#modules/accounts/view.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import { type Gap, holidayGaps, type Shift, sortedGaps } from '#modules/schedules/decide/layered_shifts.ts';
import { nextHandOver } from '#modules/schedules/decide/rotation.ts';
import { parseTimeRange } from '#modules/schedules/decide/schedule_times.ts';
import type { ScheduleOverTime } from '#modules/schedules/store/on_call_reader.ts';
import { ScheduleView, toScheduleView } from '#modules/schedules/view.ts';

export const ShiftView = Type.Object({
  userIds: Type.Array(IdText, { description: 'everybody on call at once' }),
  source: Type.Enum(['rotation', 'override']),
  layerId: nullable(Type.String({ description: 'layer that names them; null: an override of the whole schedule' })),
  since: Timestamp,
  until: nullable(Timestamp),
});

export function toShiftView({ userIds, source, layerId, since, until }: Shift): Static<typeof ShiftView> {
  return { userIds: [...userIds], source, layerId, since: toTimestamp(since), until: toTimestampOrNull(until) };
}

/** Longest period in days: three calendar months, and the hour that the clocks may add. */
const DAYS_MAX = 93;
const SCHEDULES_MAX = 50;
/** Limit on the shifts of a schedule: an hourly rotation of six weeks. */
const SHIFTS_MAX = 1_000;
/** Limit on the shifts of a page of schedules: enough for two months of eight-hour turns of fifty schedules. */
const SHIFTS_OF_ALL_MAX = 10_000;
const OVERRIDES_MAX = 200;
const GAPS_MAX = 20;
const GAP_DAYS = 30;
/** Limit on the gaps counted: one an hour. */
const GAPS_COUNTED_MAX = GAP_DAYS * 24;

const Span = Type.Object({ since: Timestamp, until: Timestamp });

const OverrideView = Type.Object({
  overrideId: IdText,
  userId: IdText,
  layerId: nullable(Type.String({ description: 'the only layer for which it counts' })),
  startAt: Timestamp,
  endAt: Timestamp,
});

const ScheduleOverTimeView = Type.Object({
  ...ScheduleView.properties,
  teamName: Type.String(),
  onCall: nullable(ShiftView),
  next: nullable(
    Type.Object({ userIds: Type.Array(IdText), at: Timestamp }, { description: 'who takes over, and when' }),
  ),
  handOver: nullable(
    Type.Object(
      { at: Timestamp, position: Type.Integer() },
      { description: 'the next one of the first layer: when, and to which of its turns, by its index' },
    ),
  ),
  shifts: Type.Array(ShiftView, { description: 'those that overlap the time asked for, with their true limits' }),
  shownUntil: nullable(
    Type.String({ format: 'date-time', description: 'where the shifts end when there are too many of them' }),
  ),
  overrides: Type.Array(OverrideView, { description: 'of people who are still there; the newest, at most 200' }),
  holidays: Type.Array(Span, { description: 'when nobody is on call in the time asked for, as it is a holiday' }),
  gaps: Type.Array(Span, { description: 'when nobody is on call in the next 30 days, holidays aside; at most 20' }),
  gapCount: Type.Integer(),
});

export const getOnCallTimeline = defineOperation({
  name: 'get_on_call_timeline',
  summary:
    'Show who is on call in every schedule within a range of at most 93 days, exactly as who_is_on_call answers at each instant; with who is on call now and next, and when nobody is.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({
    from: Timestamp,
    to: Timestamp,
    teamIds: Type.Optional(Type.Array(IdText, { maxItems: SCHEDULES_MAX, description: 'no others' })),
    scheduleIds: Type.Optional(Type.Array(IdText, { maxItems: SCHEDULES_MAX, description: 'no others' })),
    userId: Type.Optional(
      Type.String({ maxLength: 100, description: 'only schedules that name this person, in an override too' }),
    ),
    cursor: Type.Optional(Type.String({ maxLength: 100, description: 'the nextCursor of the page before' })),
  }),
  result: Type.Object({
    at: Timestamp,
    teamCount: Type.Integer({ description: 'how many teams the organization has' }),
    schedules: Type.Array(ScheduleOverTimeView, { description: 'by the name of their team, oldest first' }),
    people: Type.Array(Type.Object({ userId: IdText, name: Type.String(), color: PersonColorNumber })),
    scheduleCount: Type.Integer({ description: 'how many schedules the organization has' }),
    total: Type.Integer({ description: 'how many schedules are meant' }),
    nextCursor: nullable(Type.String()),
  }),
  example: {
    from: '2027-02-01T00:00:00Z',
    to: '2027-02-15T00:00:00Z',
    teamIds: ['team_01k9z8g5m6f0rbn3w8d2y7k4qf'],
    scheduleIds: ['schedule_01k9z8g5m6f0rbn3w8d2y7k4qf'],
    userId: 'user_01k9z8g5m6f0rbn3w8d2y7k4qf',
    cursor: '0',
  },
  async handle(input, context) {
    const { caller, stores, now } = context;
    const { from, to } = unwrap(parseTimeRange(input, DAYS_MAX));
    const offset = parseCursor(input.cursor);
    const { teamIds, scheduleIds, userId } = input;
    const naming = userId === undefined ? undefined : { userId, after: from };
    const filter = { teamIds, scheduleIds, naming };
    const page = await stores.schedules.listPage(caller.orgId, filter, { offset, limit: SCHEDULES_MAX });
    const total = await stores.schedules.count(caller.orgId, filter);
    const limit = Math.min(SHIFTS_MAX, Math.floor(SHIFTS_OF_ALL_MAX / Math.max(1, page.length)));
    const timeline = await stores.onCall.overTime(caller.orgId, page, { from, to, at: now, limit: limit + 1 });
    const isPresent = (userId: string) => timeline.people.has(userId);
    const viewed = { from, to, now, isPresent, limit };
    const schedules: Static<typeof ScheduleOverTimeView>[] = [];
    for (const [index, schedule] of timeline.schedules.entries()) {
      schedules.push(toView(schedule, { ...viewed, teamName: page[index]?.teamName ?? '' }));
      await nextTurn();
    }
    return {
      at: toTimestamp(now),
      teamCount: await stores.teams.countNames(caller.orgId),
      schedules,
      people: [...timeline.people.values()].map(({ userId, name, color }) => ({ userId, name, color })),
      scheduleCount: await stores.schedules.count(caller.orgId),
      total,
      nextCursor: page.length > 0 && offset + page.length < total ? String(offset + page.length) : null,
    };
  },
});

/** Parses the cursor: the number of schedules that are left out. */
function parseCursor(cursor = '0'): number {
  if (/^\d{1,6}$/.test(cursor)) return Number(cursor);
  throw invalidInput([{ path: 'cursor', message: 'must be the nextCursor of the page before' }]);
}

interface Viewed {
  readonly from: Temporal.Instant;
  readonly to: Temporal.Instant;
  readonly now: Temporal.Instant;
  readonly isPresent: (userId: string) => boolean;
  readonly limit: number;
  readonly teamName: string;
}

function toView(
  { schedule, layered, onCall, shifts }: ScheduleOverTime,
  { from, to, now, isPresent, limit, teamName }: Viewed,
): Static<typeof ScheduleOverTimeView> {
  const [first] = layered.layers;
  const handOver = first ? nextHandOver(first, layered.clock ?? new ZoneClock(layered.timeZone), now) : null;
  const gaps = sortedGaps(layered, now, now.add({ hours: GAP_DAYS * 24 }), isPresent, GAPS_COUNTED_MAX).unplanned;
  const shown = layered.overrides.filter(
    ({ userId, startAt, endAt }) => isPresent(userId) && !isAtOrBefore(to, startAt) && !isAtOrBefore(endAt, from),
  );
  const isCut = shifts.length > limit;
  const cutAt = isCut ? shifts[limit]?.since : undefined;
  return {
    ...toScheduleView(schedule),
    teamName,
    onCall: onCall.shift && toShiftView(onCall.shift),
    next: onCall.next && { userIds: [...onCall.next.userIds], at: toTimestamp(onCall.next.at) },
    handOver: handOver && { ...handOver, at: toTimestamp(handOver.at) },
    shifts: shifts.slice(0, limit).map(toShiftView),
    shownUntil: cutAt === undefined ? null : toTimestamp(cutAt),
    overrides: shown.slice(-OVERRIDES_MAX).map(({ overrideId, userId, layerId = null, startAt, endAt }) => {
      return { overrideId, userId, layerId, startAt: toTimestamp(startAt), endAt: toTimestamp(endAt) };
    }),
    holidays: holidayGaps(layered, from, to, isPresent, GAPS_COUNTED_MAX).map(toSpan),
    gaps: gaps.slice(0, GAPS_MAX).map(toSpan),
    gapCount: gaps.length,
  };
}

function toSpan({ since, until }: Gap): Static<typeof Span> {
  return { since: toTimestamp(since), until: toTimestamp(until) };
}
