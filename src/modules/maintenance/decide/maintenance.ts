import type { RuleConfig, RuleKind } from '#modules/rules/decide/rule_kinds.ts';
import { metricOf } from '#modules/rules/decide/rule_kinds.ts';
import type { MetricSelector } from '#modules/metrics/decide/read_selector.ts';
import { fromEpochMilliseconds, Temporal } from '#kernel/time.ts';
import { DAY_MS, ZoneClocks } from '#kernel/zone_clock.ts';
import { readExpression } from '#modules/metrics/decide/expression.ts';

type Instant = Temporal.Instant;

/** Weekly recurrence: on these days, from a wall-clock time on. */
export interface Recurrence {
  /** ISO weekdays: 1 is Monday, 7 Sunday. */
  readonly weekdays: readonly number[];
  /** Time of day, such as `02:30`. A time that a day skips moves forward; of one that it repeats, the first counts. */
  readonly startTime: string;
  /**
   * Length by the wall clock, too: from 01:00 for 120 minutes it ends at 03:00, also when the clocks change. From a time
   * that the day skips it lasts as long as it says: by the wall clock it might be over before it begins.
   */
  readonly minutes: number;
}

/** Times in which pages wait: from `startsAt` to `endsAt`, or within that time whenever it recurs. */
export interface MaintenanceTimes {
  readonly startsAt: Instant;
  /** End of the window; null for a recurring one without an end. */
  readonly endsAt: Instant | null;
  /** Weekly recurrence; null for a single window. */
  readonly recurrence: Recurrence | null;
  readonly timezone: string;
}

/** Target of a maintenance: a service, a rule, or everything with a label. */
export interface MaintenanceTarget {
  readonly serviceId: string | null;
  readonly ruleId: string | null;
  readonly labelName: string | null;
  readonly labelValue: string | null;
}

/** The facts about an incident that decide whether a maintenance covers it. */
export interface MaintenanceSubject {
  readonly serviceId: string;
  readonly ruleId: string | null;
  readonly labels: Readonly<Record<string, string>>;
}

export const RECURRENCE_MINUTES = { min: 5, max: 720 };
export const MAINTENANCE_DAYS_MAX = 31;
const MINUTE_MS = 60_000;
const DAYS_BEFORE = 2;
/** Days within which a weekly window recurs: a week, and more if a day does not have its time. */
const DAYS_TO_NEXT_MAX = 9;
/** Days within which two weekly windows meet, if they ever do. */
const OVERLAP_DAYS = 15;

export function isFor(target: MaintenanceTarget, subject: MaintenanceSubject): boolean {
  if (target.serviceId !== null) return target.serviceId === subject.serviceId;
  if (target.ruleId !== null) return target.ruleId === subject.ruleId;
  return target.labelName !== null && subject.labels[target.labelName] === target.labelValue;
}

/**
 * Returns the labels that every series of a rule bears: those that its selector demands with exactly one value; both of a ratio.
 */
export function labelsOf(rule: { readonly kind: RuleKind; readonly config: RuleConfig }): Record<string, string> {
  const metric = metricOf(rule);
  if (metric === null) return {};
  const [ownLabels = new Map<string, string>(), divisor] = sidesOf(metric).map(({ matchers }) => {
    const demanded = matchers.filter(({ operator, value }) => operator === '=' && value !== '');
    return new Map(demanded.map(({ label, value }) => [label, value]));
  });
  return Object.fromEntries(
    [...ownLabels].filter(([label, value]) => divisor === undefined || divisor.get(label) === value),
  );
}

/** Returns the selectors of an expression; none if it cannot be read. */
function sidesOf(metric: string): readonly MetricSelector[] {
  try {
    return readExpression(metric).sides;
  } catch {
    return [];
  }
}

/** Returns the rules that a window keeps quiet, out of these. */
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

/** Returns the next time, from this instant on, in which both are in effect; null if there is none within two weeks. */
export function nextOverlap(
  a: MaintenanceTimes,
  b: MaintenanceTimes,
  from: Instant,
  clocks = new ZoneClocks(),
): { readonly startsAt: Instant; readonly endsAt: Instant } | null {
  const sinceMs = later(from, later(a.startsAt, b.startsAt)).epochMilliseconds;
  const of = (window: MaintenanceTimes) => occurrencesBetween(window, sinceMs, sinceMs + OVERLAP_DAYS * DAY_MS, clocks);
  const [ofA, ofB] = [of(a), of(b)];
  for (let atA = 0, atB = 0; ;) {
    const [first, other] = [ofA[atA], ofB[atB]];
    if (first === undefined || other === undefined) return null;
    const both = { fromMs: Math.max(sinceMs, first.fromMs, other.fromMs), toMs: Math.min(first.toMs, other.toMs) };
    if (both.fromMs < both.toMs) return toInstants(both);
    if (first.toMs < other.toMs) atA += 1;
    else atB += 1;
  }
}

/** Returns the current or next time in which it is in effect, from this instant on; null when it is over. */
export function nextMaintenance(
  window: MaintenanceTimes,
  from: Instant,
  clocks = new ZoneClocks(),
): { readonly startsAt: Instant; readonly endsAt: Instant } | null {
  const sinceMs = later(window.startsAt, from).epochMilliseconds;
  const [next] = occurrencesBetween(window, sinceMs, sinceMs + DAYS_TO_NEXT_MAX * DAY_MS, clocks);
  return next === undefined ? null : toInstants(next);
}

function toInstants({ fromMs, toMs }: Occurrence) {
  return { startsAt: fromEpochMilliseconds(fromMs), endsAt: fromEpochMilliseconds(toMs) };
}

/** A time in which a window is in effect, in epoch milliseconds; `toMs` is no part of it. */
export interface Occurrence {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Returns the times in which a window is in effect between two instants, the first included, in order. */
export function occurrencesBetween(
  { startsAt, endsAt, recurrence, timezone }: MaintenanceTimes,
  sinceMs: number,
  untilMs: number,
  clocks: ZoneClocks,
): Occurrence[] {
  const firstMs = startsAt.epochMilliseconds;
  const lastMs = endsAt?.epochMilliseconds ?? Infinity;
  if (firstMs >= untilMs || lastMs <= sinceMs) return [];
  if (recurrence === null) return endsAt === null ? [] : [{ fromMs: firstMs, toMs: lastMs }];
  const [hours = 0, minutes = 0] = recurrence.startTime.split(':').map(Number);
  const clock = clocks.of(timezone);
  const startOfDay = (hours * 60 + minutes) * MINUTE_MS;
  const occurrences: Occurrence[] = [];
  // An occurrence that began the day before may still last, longer when the clocks change.
  const first = Math.floor(clock.wallOf(sinceMs) / DAY_MS) - DAYS_BEFORE;
  const last = Math.floor(clock.wallOf(untilMs) / DAY_MS);
  for (let day = first; day <= last; day += 1) {
    if (!recurrence.weekdays.includes(weekdayOf(day))) continue;
    const wall = day * DAY_MS + startOfDay;
    const beginsMs = clock.instantOf(wall);
    const lengthMs = recurrence.minutes * MINUTE_MS;
    const isSkipped = clock.wallOf(beginsMs) !== wall;
    const fromMs = Math.max(firstMs, beginsMs);
    const toMs = Math.min(lastMs, isSkipped ? beginsMs + lengthMs : clock.instantOf(wall + lengthMs));
    if (fromMs < toMs && fromMs < untilMs && toMs > sinceMs) occurrences.push({ fromMs, toMs });
  }
  return occurrences;
}

/** Returns 1 for Monday to 7 for Sunday; 1970-01-01 was a Thursday. */
function weekdayOf(day: number): number {
  return ((((day + 3) % 7) + 7) % 7) + 1;
}

function later(a: Instant, b: Instant): Instant {
  return Temporal.Instant.compare(a, b) >= 0 ? a : b;
}
