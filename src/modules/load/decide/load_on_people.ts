import type { Id } from '#kernel/ids.ts';
import { DAY_MS, ZoneClocks } from '#kernel/zone_clock.ts';
import { nightFinder } from '#modules/schedules/decide/layered_shifts.ts';

type UserId = Id<'user'>;

/** A page that left, as the log of its incident has it. */
export interface LoadPage {
  readonly incidentId: string;
  readonly userId: UserId;
  readonly atMs: number;
  /** Whether its channel wakes people. */
  readonly wakes: boolean;
}

export interface LoadIncident {
  readonly id: string;
  readonly ruleId: Id<'rule'> | null;
  readonly triggeredMs: number;
  readonly acknowledgedMs: number | null;
  /** Null while nobody has, and when it was no person. */
  readonly acknowledgedBy: string | null;
  readonly resolvedMs: number | null;
  readonly resolvedBy: string | null;
}

/** A shift, cut to the time that is counted. */
export interface LoadShift {
  readonly userId: UserId;
  readonly sinceMs: number;
  readonly untilMs: number;
}

export interface LoadFacts {
  readonly pages: readonly LoadPage[];
  readonly incidents: readonly LoadIncident[];
  readonly shifts: readonly LoadShift[];
  readonly memberIds: readonly UserId[];
  readonly zoneOf: (userId: UserId) => string;
}

export interface PersonLoad {
  readonly userId: UserId;
  readonly pages: number;
  /** Pages from 23:00 to 07:00 in their zone. */
  readonly nightPages: number;
  /** Pages on a Saturday or a Sunday in their zone. */
  readonly weekendPages: number;
  readonly acknowledged: number;
  /** Median from their first page of an incident to their acknowledgement; null for none. */
  readonly minutesToAcknowledge: number | null;
  readonly resolved: number;
  /** Median from the trigger of an incident to their resolution; null for none. */
  readonly minutesToResolve: number | null;
  readonly minutesAwake: number;
  readonly shifts: number;
  readonly hoursOnCall: number;
}

/** Pages of a rule, and those of incidents that nobody acknowledged or resolved. */
export interface RuleLoad {
  readonly ruleId: Id<'rule'>;
  readonly incidents: number;
  readonly pages: number;
  readonly ignoredIncidents: number;
  readonly ignoredPages: number;
}

export interface Load {
  readonly people: readonly PersonLoad[];
  /** Mean of the people. */
  readonly mean: Omit<PersonLoad, 'userId'>;
  readonly rules: readonly RuleLoad[];
}

/** A page at night keeps somebody awake until it is answered: at least this long, and at most. */
const AWAKE_MS_MIN = 15 * 60_000;
const AWAKE_MS_MAX = 60 * 60_000;

/**
 * Counts what incidents have asked of people: everybody of the team, whoever was paged and whoever held a shift, those
 * with the most pages first; and rules by the pages that nobody acted on.
 */
export function loadOnPeople(facts: LoadFacts): Load {
  const { pages, incidents, shifts, memberIds } = facts;
  const byId = new Map(incidents.map((incident) => [incident.id, incident]));
  const byPerson = Map.groupBy(pages, ({ userId }) => userId);
  const shiftsOf = Map.groupBy(shifts, ({ userId }) => userId);
  const acknowledgedBy = Map.groupBy(incidents, (incident) => incident.acknowledgedBy);
  const resolvedBy = Map.groupBy(incidents, (incident) => incident.resolvedBy);
  const nightOf = nightFinder();
  const isWeekend = weekendFinder();
  const everybody = [...new Set([...memberIds, ...byPerson.keys(), ...shiftsOf.keys()])];
  const people = everybody.map((userId): PersonLoad => {
    const pagesTo = byPerson.get(userId) ?? [];
    const zone = facts.zoneOf(userId);
    const atNight = pagesTo.filter(({ atMs }) => nightOf(atMs, zone) !== null);
    const acknowledged = acknowledgedBy.get(userId) ?? [];
    const resolved = resolvedBy.get(userId) ?? [];
    const firstAt = firstPages(pagesTo);
    const held = shiftsOf.get(userId) ?? [];
    return {
      userId,
      pages: pagesTo.length,
      nightPages: atNight.length,
      weekendPages: pagesTo.filter(({ atMs }) => isWeekend(atMs, zone)).length,
      acknowledged: acknowledged.length,
      minutesToAcknowledge: median(acknowledged.flatMap((incident) => msToAnswer(incident, firstAt))),
      resolved: resolved.length,
      minutesToResolve: median(
        resolved.flatMap(({ triggeredMs, resolvedMs }) => (resolvedMs === null ? [] : [resolvedMs - triggeredMs])),
      ),
      minutesAwake: minutesAwake(
        atNight.filter(({ wakes }) => wakes),
        byId,
      ),
      shifts: held.length,
      hoursOnCall: tenths(held.reduce((sum, { sinceMs, untilMs }) => sum + untilMs - sinceMs, 0) / 3_600_000),
    };
  });
  return {
    people: people.toSorted((a, b) => b.pages - a.pages),
    mean: meanOf(people),
    rules: loadOfRules(pages, byId),
  };
}

function weekendFinder(): (atMs: number, zone: string) => boolean {
  const clocks = new ZoneClocks();
  // 1970 began on a Thursday.
  return (atMs, zone) => (Math.floor(clocks.of(zone).wallOf(atMs) / DAY_MS) + THURSDAY - 1) % 7 >= SATURDAY - 1;
}

const [THURSDAY, SATURDAY] = [4, 6];

/** Returns when the first of these pages about each incident left. */
function firstPages(pages: readonly LoadPage[]): ReadonlyMap<string, number> {
  const first = new Map<string, number>();
  for (const { incidentId, atMs } of pages) first.set(incidentId, Math.min(atMs, first.get(incidentId) ?? Infinity));
  return first;
}

/** Returns the milliseconds from the person's first page of an incident to its acknowledgement; empty without one. */
function msToAnswer({ id, acknowledgedMs }: LoadIncident, firstAt: ReadonlyMap<string, number>): number[] {
  const earliest = firstAt.get(id) ?? Infinity;
  return acknowledgedMs === null || earliest > acknowledgedMs ? [] : [acknowledgedMs - earliest];
}

/** Returns the minutes that pages at night kept somebody awake; times that overlap count once. */
function minutesAwake(pages: readonly LoadPage[], byId: ReadonlyMap<string, LoadIncident>): number {
  let [total, until] = [0, -Infinity];
  for (const { atMs, incidentId } of pages.toSorted((a, b) => a.atMs - b.atMs)) {
    const { acknowledgedMs = null, resolvedMs = null } = byId.get(incidentId) ?? {};
    const answered = Math.min(acknowledgedMs ?? Infinity, resolvedMs ?? Infinity) - atMs;
    const end = atMs + Math.min(AWAKE_MS_MAX, Math.max(AWAKE_MS_MIN, answered));
    total += Math.max(0, end - Math.max(until, atMs));
    until = Math.max(until, end);
  }
  return Math.round(total / 60_000);
}

function loadOfRules(pages: readonly LoadPage[], byId: ReadonlyMap<string, LoadIncident>): RuleLoad[] {
  const rules = new Map<
    Id<'rule'>,
    { incidents: Set<string>; ignored: Set<string>; pages: number; ignoredPages: number }
  >();
  for (const { incidentId } of pages) {
    const incident = byId.get(incidentId);
    if (incident === undefined || incident.ruleId === null) continue;
    const { ruleId, acknowledgedMs, resolvedMs, resolvedBy } = incident;
    const load = rules.get(ruleId) ?? { incidents: new Set(), ignored: new Set(), pages: 0, ignoredPages: 0 };
    rules.set(ruleId, load);
    load.incidents.add(incidentId);
    load.pages += 1;
    // An open incident may still be acted on.
    if (acknowledgedMs !== null || resolvedMs === null || resolvedBy !== null) continue;
    load.ignored.add(incidentId);
    load.ignoredPages += 1;
  }
  return [...rules]
    .map(([ruleId, { incidents, ignored, pages: count, ignoredPages }]) => {
      return { ruleId, incidents: incidents.size, pages: count, ignoredIncidents: ignored.size, ignoredPages };
    })
    .toSorted((a, b) => b.ignoredPages - a.ignoredPages || b.pages - a.pages);
}

function meanOf(people: readonly PersonLoad[]): Omit<PersonLoad, 'userId'> {
  const mean = (of: (person: PersonLoad) => number | null): number | null => {
    const values = people.map(of).filter((value) => value !== null);
    return values.length === 0 ? null : tenths(values.reduce((sum, value) => sum + value, 0) / values.length);
  };
  return {
    pages: mean((person) => person.pages) ?? 0,
    nightPages: mean((person) => person.nightPages) ?? 0,
    weekendPages: mean((person) => person.weekendPages) ?? 0,
    acknowledged: mean((person) => person.acknowledged) ?? 0,
    minutesToAcknowledge: mean((person) => person.minutesToAcknowledge),
    resolved: mean((person) => person.resolved) ?? 0,
    minutesToResolve: mean((person) => person.minutesToResolve),
    minutesAwake: mean((person) => person.minutesAwake) ?? 0,
    shifts: mean((person) => person.shifts) ?? 0,
    hoursOnCall: mean((person) => person.hoursOnCall) ?? 0,
  };
}

/** Returns the median of milliseconds in minutes, to a tenth; null for none. */
function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  return low === undefined || high === undefined ? null : tenths((low + high) / 2 / 60_000);
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
