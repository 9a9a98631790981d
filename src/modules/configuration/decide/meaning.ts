import type { Steps } from '#kernel/cooperative_task.ts';
import { asId } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';
import { decidedLayers } from './layers.ts';
import type { MatchedResource } from '#modules/configuration/decide/match_resources.ts';
import type { Plan, PlannedChange } from '#modules/configuration/decide/plan.ts';
import type { OrganizationState } from '#modules/configuration/decide/present_state.ts';
import type { FieldsOf, RouteFields, StepFields } from '#modules/configuration/decide/resource.ts';
import { whoCannotAnswer } from '#modules/configuration/decide/who_cannot_answer.ts';
import { worseSeverity } from '#modules/incidents/decide/incident_limit.ts';
import { changedShifts } from '#modules/schedules/decide/changed_shifts.ts';
import { finalShiftsBetween, type LayeredSchedule } from '#modules/schedules/decide/layered_shifts.ts';
import { FIRST_LAYER } from '#modules/schedules/decide/layer.ts';
import type { Override } from '#modules/schedules/decide/overrides.ts';

/** Limit on the sentences of one kind; the rest are counted. */
const SENTENCES_MAX = 100;

/**
 * Tells what a plan means for people: whose shifts change, who is no longer reached, and what pages less. Whoever writes the
 * file decides how many shifts there are to compare, so that each schedule is a step.
 */
export function* meaningOf(plan: Plan, state: OrganizationState, now: Temporal.Instant): Steps<string[]> {
  return [
    ...shortened(yield* changedTurns(plan, state, now), 'more changes of shifts'),
    ...shortened(unreached(plan, state), 'more people are in no schedule and no step any more'),
    ...shortened(changedPaging(plan), 'more changes that page less'),
    ...shortened(whoCannotAnswer(plan, state), 'more people who are paged and may not answer'),
  ];
}

function shortened(sentences: readonly string[], rest: string): string[] {
  if (sentences.length <= SENTENCES_MAX) return [...sentences];
  return [...sentences.slice(0, SENTENCES_MAX), `And ${sentences.length - SENTENCES_MAX} ${rest}.`];
}

/** Tells of people whom some schedule or step reaches now, and none will. */
function unreached({ matches, changes }: Plan, state: OrganizationState): string[] {
  const names = new Map(state.people.map(({ userId, name }) => [userId, name]));
  const deleted = new Set(changes.filter(({ action }) => action === 'delete').map(({ id }) => id));
  const touched = new Set(
    changes.flatMap(({ id, kind, wanted }) =>
      (kind === 'schedule' && !(wanted?.kind === 'schedule' && wanted.fields.layers === undefined)) || kind === 'policy'
        ? [id]
        : [],
    ),
  );
  if (touched.size === 0) return [];
  const [before, after] = [new Set<string>(), new Set<string>()];
  const stay = (id: string) => !deleted.has(id) && !touched.has(id);
  for (const { id, layers } of state.schedules) {
    for (const userId of layers.flatMap(({ turns }) => turns.flatMap(({ userIds }) => userIds))) {
      before.add(userId);
      if (stay(id)) after.add(userId);
    }
  }
  for (const { id, steps } of state.policies) {
    for (const userId of steps.flatMap(({ targetUserIds }) => targetUserIds)) {
      before.add(userId);
      if (stay(id)) after.add(userId);
    }
  }
  for (const { wanted } of matches.matched) {
    const refs =
      wanted.kind === 'schedule'
        ? (wanted.fields.layers ?? []).flatMap(({ turns }) => turns.flat())
        : wanted.kind === 'policy'
          ? wanted.fields.steps.flatMap(({ people }) => people)
          : [];
    for (const ref of refs) after.add(matches.findId('person', ref) ?? ref);
  }
  return [...before]
    .filter((userId) => !after.has(userId) && names.has(userId))
    .map((userId) => `${names.get(userId) ?? userId} is in no schedule and no step of a policy any more.`);
}

const DAYS_AHEAD = 14;
const SHIFTS_MAX = 400;
/** Limit on the schedules whose shifts are compared. */
const SCHEDULES_MAX = 500;

/** Tells whose shifts within two weeks change, a sentence for each schedule that is there already, each in a step. */
function* changedTurns(plan: Plan, state: OrganizationState, now: Temporal.Instant): Steps<string[]> {
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
      return {
        ...overrideOf(key, idOf(person), startAt, endAt, stay.length + index),
        layerId: layer === '' ? FIRST_LAYER : layer,
      };
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

/** Tells what pages fewer people, later, by fewer channels or not at all. */
function changedPaging({ changes }: Plan): string[] {
  return changes.flatMap(lessOf);
}

function lessOf(change: PlannedChange): string[] {
  const { action, kind, name, part } = change;
  if (part?.part === 'capability' && !part.isEnabled) {
    return [`${name}: ${part.capability} is disabled, and what rests on it pages nobody.`];
  }
  if (action === 'delete') return deletedText(change);
  switch (kind) {
    case 'policy':
      return action === 'update' ? lessOfPolicy(change) : [];
    case 'rule':
      return action === 'update' ? lessOfRule(change) : [];
    case 'routes':
      return action === 'update' ? lessOfRoutes(change) : [];
    case 'member':
      return action === 'update' ? lessOfMember(change) : [];
    case 'maintenance':
      return action === 'create' ? maintenanceText(change) : [];
    default:
      return [];
  }
}

const DELETED: Partial<Record<PlannedChange['kind'], string>> = {
  policy: 'is deleted: rules and routes by it page nobody',
  rule: 'is deleted and opens no incident any more',
  schedule: 'is deleted: steps that rest on it reach nobody by it',
  service: 'is deleted with all its data',
  team: 'is deleted',
  member: 'is no member of the team any more',
};

function deletedText({ kind, name }: PlannedChange): string[] {
  const text = DELETED[kind];
  return text === undefined ? [] : [`${name} ${text}.`];
}

function lessOfPolicy({ name, wanted, present }: PlannedChange): string[] {
  if (wanted?.kind !== 'policy' || present?.kind !== 'policy') return [];
  const [before, after] = [reachOf(present.fields.steps), reachOf(wanted.fields.steps)];
  const sentences: string[] = [];
  for (const [recipient, was] of before) {
    const is = after.get(recipient);
    const whom = recipient === ON_CALL ? 'whoever is on call' : recipient;
    if (is === undefined) {
      sentences.push(`${name}: ${whom} is not paged any more.`);
      continue;
    }
    if (is.minutes > was.minutes) {
      sentences.push(`${name}: ${whom} is paged after ${is.minutes} minutes instead of ${was.minutes}.`);
    }
    const lost = [...was.channels].filter((channel) => !is.channels.has(channel));
    if (lost.length > 0) sentences.push(`${name}: ${whom} is not paged by ${lost.join(', ')} any more.`);
  }
  return sentences;
}

const ON_CALL = '@on call';

function recipientsOf({ people, onCall, schedules, isNext, members, policy }: StepFields): string[] {
  const asked = schedules?.map((schedule) => `whoever is on call in ${schedule}`) ?? (onCall ? [ON_CALL] : []);
  return [
    ...people,
    ...(isNext ? asked.map((current) => `who follows ${current}`) : asked),
    ...(members === null ? [] : [`the team ${members.team}`]),
    ...(policy === null ? [] : [`the policy ${policy}`]),
  ];
}

/** Returns when, at the earliest, and by which channels the steps reach each recipient. */
function reachOf(steps: readonly StepFields[]): Map<string, { minutes: number; channels: Set<string> }> {
  const reach = new Map<string, { minutes: number; channels: Set<string> }>();
  for (const step of steps) {
    const { afterMinutes, channels } = step;
    for (const recipient of recipientsOf(step)) {
      const so = reach.get(recipient);
      if (so === undefined) reach.set(recipient, { minutes: afterMinutes, channels: new Set(channels) });
      else {
        so.minutes = Math.min(so.minutes, afterMinutes);
        for (const channel of channels) so.channels.add(channel);
      }
    }
  }
  return reach;
}

function lessOfRule({ name, wanted, present }: PlannedChange): string[] {
  if (wanted?.kind !== 'rule' || present?.kind !== 'rule') return [];
  const sentences: string[] = [];
  const [before, after] = [present.fields, wanted.fields];
  if (before.enabled && after.enabled === false) sentences.push(`${name} is disabled and opens no incident any more.`);
  if (before.policy !== null && after.policy === null) sentences.push(`${name} opens incidents that page nobody.`);
  if (firesLess(before, after)) sentences.push(`${name} opens incidents for less than before.`);
  return sentences;
}

/** Whether the condition is true in fewer cases, as far as threshold and severity tell. */
function firesLess(before: Required<FieldsOf['rule']>, after: FieldsOf['rule']): boolean {
  const [was, is] = [before.config, after.config];
  if ('threshold' in was && 'threshold' in is) {
    if (was.comparator !== is.comparator) return false;
    const isAbove = is.comparator === '>' || is.comparator === '>=';
    return isAbove ? is.threshold > was.threshold : is.threshold < was.threshold;
  }
  if ('minSeverity' in was && 'minSeverity' in is) {
    return is.minSeverity !== was.minSeverity && worseSeverity(is.minSeverity, was.minSeverity) === is.minSeverity;
  }
  return false;
}

function lessOfRoutes({ name, wanted, present }: PlannedChange): string[] {
  if (wanted?.kind !== 'routes' || present?.kind !== 'routes') return [];
  const silent = (routes: readonly RouteFields[]) => routes.filter(({ outcome }) => outcome !== 'page').length;
  const [was, is] = [silent(present.fields.routes), silent(wanted.fields.routes)];
  const last = wanted.fields.routes.at(-1);
  const wasLast = present.fields.routes.at(-1);
  if (wasLast?.outcome === 'page' && last?.outcome !== 'page') {
    return [`Alerts of ${name} that no other route takes page nobody any more.`];
  }
  return is > was ? [`Alerts of ${name} page nobody by ${is} routes instead of ${was}.`] : [];
}

function lessOfMember({ name, fields }: PlannedChange): string[] {
  const off = fields.filter(({ before, after }) => before === true && after === false).map(({ field }) => field);
  const lost = fields.some(({ field, before, after }) => field === 'phone' && before !== null && after === null);
  return [
    ...(off.length > 0 ? [`${name} is not paged by ${off.join(', ')} any more.`] : []),
    ...(lost ? [`${name} has no phone number any more.`] : []),
  ];
}

function maintenanceText({ name, wanted }: PlannedChange): string[] {
  if (wanted?.kind !== 'maintenance') return [];
  const { service, rule, label, startsAt, endsAt, recurrence } = wanted.fields;
  const what = service ?? rule ?? (label === null ? '' : `${label.name}=${label.value}`);
  const when =
    recurrence === null ? `from ${startsAt} to ${endsAt ?? ''}` : `on ${recurrence.weekdays.length} days a week`;
  return [`${name}: incidents of ${what} page nobody ${when}.`];
}
