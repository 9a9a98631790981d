import type { RuleConfig, RuleKind } from '#core/incidents/rule_kinds.ts';
import { metricOf } from '#core/incidents/rule_kinds.ts';
import { readSelector } from '#core/metrics/read_selector.ts';
import { Temporal } from '#kernel/time.ts';

type Instant = Temporal.Instant;

/** On these days, from a wall-clock time on. */
export interface Recurrence {
  /** 1 is Monday, 7 Sunday. */
  readonly weekdays: readonly number[];
  /** `02:30`. A time that a day does not have moves forward; of one that it has twice, the first counts. */
  readonly startTime: string;
  /** By the wall clock, too: from 01:00 for 120 minutes it ends at 03:00, also when the clocks change. */
  readonly minutes: number;
}

/** When pages wait: from `startsAt` to `endsAt`, or within that time whenever it recurs. */
export interface MaintenanceTimes {
  readonly startsAt: Instant;
  /** Null for a recurring one without an end. */
  readonly endsAt: Instant | null;
  /** Null for once. */
  readonly recurrence: Recurrence | null;
  readonly timezone: string;
}

/** What it is for: a service, a rule, or what bears a label. */
export interface MaintenanceTarget {
  readonly serviceId: string | null;
  readonly ruleId: string | null;
  readonly labelName: string | null;
  readonly labelValue: string | null;
}

/** What an incident is about, as far as maintenance goes. */
export interface MaintenanceSubject {
  readonly serviceId: string;
  readonly ruleId: string | null;
  readonly labels: Readonly<Record<string, string>>;
}

export const RECURRENCE_MINUTES = { min: 5, max: 720 };
export const MAINTENANCE_DAYS_MAX = 31;
const DAY_MINUTES = 1_440;
/** Windows that follow one another without a gap are taken together, but no more than these. */
const CHAINED_MAX = 100;
/** Two windows that recur weekly meet within two weeks, or never. */
const OVERLAP_TRIES = 30;

export function isFor(target: MaintenanceTarget, subject: MaintenanceSubject): boolean {
  if (target.serviceId !== null) return target.serviceId === subject.serviceId;
  if (target.ruleId !== null) return target.ruleId === subject.ruleId;
  return target.labelName !== null && subject.labels[target.labelName] === target.labelValue;
}

/** The labels that every series of a rule bears: those that its selector demands with exactly one value. */
export function labelsOf(rule: { readonly kind: RuleKind; readonly config: RuleConfig }): Record<string, string> {
  const metric = metricOf(rule);
  if (metric === null) return {};
  const demanded = readSelector(metric).matchers.filter(({ operator, value }) => operator === '=' && value !== '');
  return Object.fromEntries(demanded.map(({ label, value }) => [label, value]));
}

/**
 * Until when pages wait that would begin at this instant, null for not at all. Windows that overlap or follow one
 * another count together; after 31 days pages no longer wait, whatever the windows say.
 */
export function quietUntil(windows: readonly MaintenanceTimes[], at: Instant): Instant | null {
  const latest = at.add({ hours: 24 * MAINTENANCE_DAYS_MAX });
  let until = at;
  for (let chained = 0; chained < CHAINED_MAX; chained += 1) {
    const ends = windows.flatMap((window) => endOf(window, until) ?? []);
    const [last] = ends.toSorted((a, b) => Temporal.Instant.compare(b, a));
    if (last === undefined) break;
    until = last;
    if (Temporal.Instant.compare(until, latest) >= 0) return latest;
  }
  return Temporal.Instant.compare(until, at) > 0 ? until : null;
}

/** Until when pages about a subject wait that would begin at this instant, and the window that says so; null for not at all. */
export function findQuiet<Window extends MaintenanceTimes & MaintenanceTarget>(
  windows: readonly Window[],
  subject: MaintenanceSubject,
  at: Instant,
): { readonly until: Instant; readonly window: Window } | null {
  const own = windows.filter((window) => isFor(window, subject));
  const until = quietUntil(own, at);
  const window = until === null ? undefined : own.find((one) => endOf(one, at) !== null);
  return until === null || window === undefined ? null : { until, window };
}

/** The rules that a window keeps quiet, out of these. */
export function rulesOf<Rule extends MaintenanceSubject>(target: MaintenanceTarget, rules: readonly Rule[]): Rule[] {
  return rules.filter((rule) => isFor(target, rule));
}

/** Whether both keep some incident quiet: they are for the same thing, or for one rule at least. */
export function haveCommonSubject(
  a: MaintenanceTarget,
  b: MaintenanceTarget,
  rules: readonly MaintenanceSubject[],
): boolean {
  const isSame =
    a.serviceId === b.serviceId &&
    a.ruleId === b.ruleId &&
    a.labelName === b.labelName &&
    a.labelValue === b.labelValue;
  return isSame || rules.some((rule) => isFor(a, rule) && isFor(b, rule));
}

/** The next time, from this instant on, in which both are in effect; null when there is none within `tries` turns of them. */
export function nextOverlap(
  a: MaintenanceTimes,
  b: MaintenanceTimes,
  from: Instant,
  tries = OVERLAP_TRIES,
): { readonly startsAt: Instant; readonly endsAt: Instant } | null {
  let at = from;
  for (let tried = 0; tried < tries; tried += 1) {
    const [one, other] = [nextMaintenance(a, at), nextMaintenance(b, at)];
    if (one === null || other === null) return null;
    const startsAt = later(from, later(one.startsAt, other.startsAt));
    const endsAt = earlier(one.endsAt, other.endsAt);
    if (Temporal.Instant.compare(startsAt, endsAt) < 0) return { startsAt, endsAt };
    at = endsAt;
  }
  return null;
}

/** When it is or will next be in effect, from this instant on; null when it is over. */
export function nextMaintenance(
  window: MaintenanceTimes,
  from: Instant,
): { readonly startsAt: Instant; readonly endsAt: Instant } | null {
  const { startsAt, endsAt, recurrence, timezone } = window;
  if (endsAt !== null && Temporal.Instant.compare(endsAt, from) <= 0) return null;
  if (recurrence === null) return endsAt === null ? null : { startsAt, endsAt };
  const since = later(startsAt, from);
  const first = since.toZonedDateTimeISO(timezone).toPlainDate().subtract({ days: 1 });
  for (let day = 0; day <= 9; day += 1) {
    const found = occurrenceOn(first.add({ days: day }), window, recurrence);
    if (found !== null && Temporal.Instant.compare(found.endsAt, since) > 0) return found;
  }
  return null;
}

/** The end of the window if it is in effect at this instant. */
function endOf(window: MaintenanceTimes, at: Instant): Instant | null {
  const { startsAt, endsAt, recurrence, timezone } = window;
  if (Temporal.Instant.compare(at, startsAt) < 0) return null;
  if (endsAt !== null && Temporal.Instant.compare(at, endsAt) >= 0) return null;
  if (recurrence === null) return endsAt;
  const today = at.toZonedDateTimeISO(timezone).toPlainDate();
  const back = Math.ceil(recurrence.minutes / DAY_MINUTES) + 1;
  const ends = Array.from({ length: back + 1 }, (_, days) => {
    const found = occurrenceOn(today.subtract({ days }), window, recurrence);
    const isIn =
      found !== null &&
      Temporal.Instant.compare(found.startsAt, at) <= 0 &&
      Temporal.Instant.compare(at, found.endsAt) < 0;
    return isIn ? found.endsAt : null;
  });
  return ends.reduce((last, end) => (last === null || (end !== null && later(last, end) === end) ? end : last), null);
}

/** On a day of its zone, cut to the time in which it recurs; null when it does not, or nothing is left. */
function occurrenceOn(
  date: Temporal.PlainDate,
  { startsAt, endsAt, timezone }: MaintenanceTimes,
  { weekdays, startTime, minutes }: Recurrence,
): { readonly startsAt: Instant; readonly endsAt: Instant } | null {
  if (!weekdays.includes(date.dayOfWeek)) return null;
  const wall = date.toPlainDateTime(Temporal.PlainTime.from(startTime));
  const start = later(wall.toZonedDateTime(timezone).toInstant(), startsAt);
  const wallEnd = wall.add({ minutes }).toZonedDateTime(timezone).toInstant();
  const end = endsAt !== null && Temporal.Instant.compare(endsAt, wallEnd) < 0 ? endsAt : wallEnd;
  return Temporal.Instant.compare(start, end) < 0 ? { startsAt: start, endsAt: end } : null;
}

function earlier(a: Instant, b: Instant): Instant {
  return Temporal.Instant.compare(a, b) <= 0 ? a : b;
}

function later(a: Instant, b: Instant): Instant {
  return Temporal.Instant.compare(a, b) >= 0 ? a : b;
}
