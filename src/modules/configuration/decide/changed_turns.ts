import { decidedLayers } from '#modules/configuration/decide/layers.ts';
import type { MatchedResource } from '#modules/configuration/decide/match_resources.ts';
import type { Plan } from '#modules/configuration/decide/plan.ts';
import type { OrganizationState } from '#modules/configuration/decide/present_state.ts';
import type { FieldsOf } from '#modules/configuration/decide/resource.ts';
import { changedShifts } from '#modules/schedules/decide/changed_shifts.ts';
import { finalShiftsBetween, type LayeredSchedule } from '#modules/schedules/decide/layered_shifts.ts';
import type { Override } from '#modules/schedules/decide/overrides.ts';
import { asId } from '#kernel/ids.ts';
import type { Steps } from '#kernel/cooperative_task.ts';
import { Temporal } from '#kernel/time.ts';

const DAYS_AHEAD = 14;
const SHIFTS_MAX = 400;
/** Limit on the schedules whose shifts are compared. */
const SCHEDULES_MAX = 500;

/** Tells whose shifts within two weeks change, a sentence for each schedule that is there already, each in a step. */
export function* changedTurns(plan: Plan, state: OrganizationState, now: Temporal.Instant): Steps<string[]> {
  const touched = touchedSchedules(plan);
  const compared = state.schedules.filter(({ id }) => touched.has(id)).slice(0, SCHEDULES_MAX);
  if (compared.length === 0) return [];
  const namer = personNamer(plan, state);
  const present = new Set(state.people.map(({ userId }) => userId));
  const until = now.add({ hours: 24 * DAYS_AHEAD });
  const wanted = new Map(
    plan.matches.matched.flatMap((match) =>
      match.wanted.kind === 'schedule' && match.present !== null
        ? [[match.present.id, match.wanted.fields] as const]
        : [],
    ),
  );
  const holidays = new Map(state.calendars.map(({ id, dates }) => [id, dates]));
  const sentences: string[] = [];
  for (const schedule of compared) {
    yield;
    const isPresent = (userId: string) => present.has(userId) || namer.isNew(userId);
    const shifts = (layered: Pick<LayeredSchedule, 'timeZone' | 'layers'>, overrides: readonly Override[]) =>
      finalShiftsBetween({ ...layered, overrides, holidays }, now, until, isPresent, SHIFTS_MAX);
    const { timezone: timeZone, layers } = schedule;
    const before = shifts({ timeZone, layers }, overridesNow(state, schedule.id));
    const next = wanted.get(schedule.id);
    const ids = { person: namer.idOf, calendar: (ref: string) => plan.matches.findId('calendar', ref) ?? ref };
    const then =
      next === undefined
        ? { timeZone, layers }
        : { timeZone: next.timezone, layers: next.layers === undefined ? layers : decidedLayers(next.layers, ids) };
    // Layers have other ids once the file has decided on them.
    const nameOfLayer = new Map(layers.map(({ id, name }) => [id, name]));
    const idOfLayer = new Map(then.layers.map(({ id, name }) => [name, id]));
    const overrides = overridesThen(plan, state, schedule.id, namer.idOf).map(({ layerId, ...override }) => {
      if (layerId == null) return override;
      return { ...override, layerId: idOfLayer.get(nameOfLayer.get(layerId) ?? layerId) ?? layerId };
    });
    const after = shifts(then, overrides);
    const changes = changedShifts(before, after, now, until);
    const [first] = changes;
    if (first === undefined) continue;
    const zone = then.timeZone;
    const [was, is] = [first.before, first.after].map(
      (userIds) => userIds.map((userId) => namer.nameOf(userId)).join(' and ') || 'nobody',
    );
    const more = changes.length > 1 ? `, and ${changes.length - 1} more in ${DAYS_AHEAD} days` : '';
    const window = `from ${wallText(first.since, zone)} to ${wallText(first.until, zone)}`;
    sentences.push(`${schedule.name}: ${window} ${is} is on call instead of ${was}${more}.`);
  }
  return sentences;
}

/** Returns the ids of schedules that are there and whose shifts may change. */
function touchedSchedules({ changes, matches }: Plan): Set<string> {
  const ids = new Set<string>();
  for (const { kind, action, id, fields, wanted, present } of changes) {
    if (kind === 'schedule' && action === 'update' && id !== null) {
      if (fields.some(({ field }) => field === 'layers' || field === 'timezone')) ids.add(id);
    }
    if (kind !== 'override') continue;
    const override = (wanted ?? present)?.fields as FieldsOf['override'] | undefined;
    const scheduleId = override && matches.findId('schedule', override.schedule);
    if (typeof scheduleId === 'string') ids.add(scheduleId);
  }
  return ids;
}

function overridesNow({ overrides }: OrganizationState, scheduleId: string): Override[] {
  return overrides
    .filter((override) => override.scheduleId === scheduleId)
    .map(({ id, userId, startAt, endAt, layerId }, index) => {
      return { ...overrideOf(id, userId, startAt, endAt, index), layerId };
    });
}

function overridesThen(
  plan: Plan,
  state: OrganizationState,
  scheduleId: string,
  idOf: (ref: string) => string,
): Override[] {
  const deleted = new Set(plan.changes.filter(({ action }) => action === 'delete').map(({ id }) => id));
  const stay = overridesNow(state, scheduleId).filter(({ overrideId }) => !deleted.has(overrideId));
  const made = plan.changes.flatMap(({ action, wanted }) => {
    if (action !== 'create' || wanted?.kind !== 'override') return [];
    return plan.matches.findId('schedule', wanted.fields.schedule) === scheduleId ? [wanted] : [];
  });
  return [
    ...stay,
    ...made.map(({ key, fields: { person, startsAt, endsAt, layer } }, index) => {
      const [startAt, endAt] = [Temporal.Instant.from(startsAt), Temporal.Instant.from(endsAt)];
      // A layer that is yet to be made has no id but its name.
      return { ...overrideOf(key, idOf(person), startAt, endAt, stay.length + index), layerId: layer };
    }),
  ];
}

function overrideOf(
  id: string,
  userId: string,
  startAt: Temporal.Instant,
  endAt: Temporal.Instant,
  place: number,
): Override {
  const createdAt = Temporal.Instant.fromEpochMilliseconds(place);
  return { overrideId: asId('override', id), userId: asId('user', userId), startAt, endAt, createdAt };
}

/** Names people by their ids, and those who are yet to be added by their keys. */
function personNamer({ matches }: Plan, state: OrganizationState) {
  const names = new Map(state.people.map(({ userId, name }) => [userId, name]));
  const added = matches.matched.filter(
    (match): match is MatchedResource => match.wanted.kind === 'person' && match.present === null,
  );
  const newNames = new Map<string, string>(
    added.map(({ wanted: { key, fields } }) => [`+${key}`, (fields as FieldsOf['person']).name] as const),
  );
  return {
    isNew: (userId: string) => newNames.has(userId),
    nameOf: (userId: string) => names.get(userId) ?? newNames.get(userId) ?? 'somebody',
    idOf: (ref: string) => matches.findId('person', ref) ?? `+${ref}`,
  };
}

function wallText(at: Temporal.Instant, timezone: string): string {
  return at.toZonedDateTimeISO(timezone).toPlainDateTime().toString({ smallestUnit: 'minute' }).replace('T', ' ');
}
