import { asId } from '#kernel/ids.ts';
import { fromEpochMilliseconds } from '#kernel/time.ts';
import { isoOf } from '#kernel/wall_clock.ts';
import { DAY_MS, type ZoneClock } from '#kernel/zone_clock.ts';
import type { OverrideInFile } from '#modules/configuration/decide/file.ts';
import type { LayerInFile } from '#modules/configuration/decide/file_fields.ts';
import { instantOf, wallOf } from '#modules/moving_in/decide/raw.ts';
import { append, keyOfPeople, type Stretch } from '#modules/moving_in/decide/timeline.ts';
import type { Layer } from '#modules/schedules/decide/layer.ts';
import { eachFinalShiftBetween } from '#modules/schedules/decide/layered_shifts.ts';

const MINUTE_MS = 60_000;

const PROOF_DAYS = 90;

/** Days on either side of a change of clocks that lies outside the window. */
const CHANGE_DAYS = 3;

/** Limit on the differences of one schedule that are listed; all are counted. */
const DIFFERENCES_MAX = 1_000;

/** Minutes in which others are on call here than there. Times are RFC 3339, people are names. */
interface Difference {
  readonly from: string;
  readonly to: string;
  readonly theirs: readonly string[];
  readonly ours: readonly string[];
  readonly cause: string;
}

/** Comparison of one schedule with the other tool's, minute by minute. */
export interface Proof {
  readonly schedule: string;
  readonly scheduleId: string;
  /** Source of theirs: their own rendered timeline, or a walk by the rules that their documentation states. */
  readonly against: 'rendered timeline' | 'independent walk';
  readonly from: string;
  readonly to: string;
  readonly minutes: number;
  readonly equal: number;
  readonly differences: readonly Difference[];
}

/** A window in milliseconds, `[from, to)`. */
interface ProofWindow {
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the windows of a proof: 90 days from `from`, and where these lack one of the next two changes of clocks, some
 * days around it. Without `from`, the 90 days lie in halves around both changes; a zone without changes has one window.
 */
export function proofWindows(clock: ZoneClock, now: number, from: number | null): ProofWindow[] {
  const changes = nextChanges(clock, from ?? now);
  if (from === null) {
    const start = dayBefore(now);
    if (changes.length === 0) return [{ from: start, to: start + PROOF_DAYS * DAY_MS }];
    const days = Math.round(PROOF_DAYS / changes.length);
    const windows = changes.map((change) => {
      const begin = Math.max(start, dayBefore(change) - Math.floor(days / 2) * DAY_MS);
      return { from: begin, to: begin + days * DAY_MS };
    });
    const [first, second] = windows;
    const touch = first !== undefined && second !== undefined && second.from < first.to;
    return touch ? [{ from: first.from, to: first.from + PROOF_DAYS * DAY_MS }] : windows;
  }
  const main = { from, to: from + PROOF_DAYS * DAY_MS };
  const outside = changes.filter((change) => change >= main.to);
  return [
    main,
    ...outside.map((change) => ({
      from: Math.max(main.to, dayBefore(change) - CHANGE_DAYS * DAY_MS),
      to: dayBefore(change) + (CHANGE_DAYS + 1) * DAY_MS,
    })),
  ];
}

/** Returns the next two changes of clocks within 400 days. */
function nextChanges(clock: ZoneClock, from: number): number[] {
  const first = clock.firstChange(from, from + 400 * DAY_MS);
  if (first === null) return [];
  const second = clock.firstChange(first, first + 400 * DAY_MS);
  return second === null ? [first] : [first, second];
}

function dayBefore(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS;
}

/** A time in which two timelines differ. */
interface RawDifference {
  readonly from: number;
  readonly to: number;
  readonly theirs: readonly string[];
  readonly ours: readonly string[];
}

/** Compares two timelines that tile `[from, to)` at the beginning of each minute. */
export function compareTimelines(
  theirs: readonly Stretch[],
  ours: readonly Stretch[],
  { from, to }: ProofWindow,
): { readonly minutes: number; readonly equal: number; readonly differences: readonly RawDifference[] } {
  const minutes = Math.floor((to - from) / MINUTE_MS);
  const differences: RawDifference[] = [];
  let equal = 0;
  let [theirIndex, ourIndex] = [0, 0];
  for (let minute = 0; minute < minutes;) {
    const at = from + minute * MINUTE_MS;
    while ((theirs[theirIndex]?.to ?? Infinity) <= at) theirIndex += 1;
    while ((ours[ourIndex]?.to ?? Infinity) <= at) ourIndex += 1;
    const [their, our] = [theirs[theirIndex], ours[ourIndex]];
    const end = Math.min(their?.to ?? to, our?.to ?? to, to);
    const next = Math.min(minutes, Math.max(minute + 1, Math.ceil((end - from) / MINUTE_MS)));
    const [theirPeople, ourPeople] = [their?.people ?? [], our?.people ?? []];
    if (keyOfPeople(theirPeople) === keyOfPeople(ourPeople)) equal += next - minute;
    else addDifference(differences, { from: at, to: from + next * MINUTE_MS, theirs: theirPeople, ours: ourPeople });
    minute = next;
  }
  return { minutes, equal, differences };
}

function addDifference(differences: RawDifference[], difference: RawDifference): void {
  const last = differences.at(-1);
  const goesOn =
    last !== undefined &&
    last.to === difference.from &&
    keyOfPeople(last.theirs) === keyOfPeople(difference.theirs) &&
    keyOfPeople(last.ours) === keyOfPeople(difference.ours);
  if (goesOn) differences[differences.length - 1] = { ...last, to: difference.to };
  else differences.push(difference);
}

/** Facts of a schedule from which the cause of a difference is found. */
interface CauseFacts {
  readonly clock: ZoneClock;
  /** Keys of the people in the file. */
  readonly people: { has(key: string): boolean };
  readonly nameOf: (key: string) => string;
  /** Overrides that found no place. */
  readonly refused: readonly { readonly name: string; readonly from: number; readonly to: number }[];
  /** Time up to which the schedule was rendered; null if it was not. */
  readonly horizon: number | null;
}

export function proofOf(
  schedule: { readonly name: string; readonly id: string },
  against: Proof['against'],
  window: ProofWindow,
  theirs: readonly Stretch[],
  ours: readonly Stretch[],
  facts: CauseFacts,
): Proof {
  const { minutes, equal, differences } = compareTimelines(theirs, ours, window);
  return {
    schedule: schedule.name,
    scheduleId: schedule.id,
    against,
    from: isoOf(window.from),
    to: isoOf(window.to),
    minutes,
    equal,
    differences: differences
      .slice(0, DIFFERENCES_MAX)
      .map((difference) => ({
        from: isoOf(difference.from),
        to: isoOf(difference.to),
        theirs: difference.theirs.map((key) => facts.nameOf(key)),
        ours: difference.ours.map((key) => facts.nameOf(key)),
        cause: causeOf(difference, facts),
      })),
  };
}

function causeOf({ from, to, theirs, ours }: RawDifference, facts: CauseFacts): string {
  const unknown = theirs.filter((key) => !facts.people.has(key));
  if (unknown.length > 0) {
    const names = unknown.map((key) => facts.nameOf(key)).join(', ');
    return `${names} is not among the people that were read, or was deleted there.`;
  }
  if (facts.horizon !== null && to > facts.horizon) {
    return `The schedule was rendered until ${isoOf(facts.horizon)} only.`;
  }
  const refused = facts.refused.find((override) => override.from < to && override.to > from);
  if (refused !== undefined) return `The override ${refused.name} is refused.`;
  if (facts.horizon !== null) return 'The schedule is rendered, and changes of hands within an hour are rounded.';
  const change = facts.clock.firstChange(from - DAY_MS, to + DAY_MS);
  if (change !== null) return `The clocks change at ${isoOf(change)}, where the tools count differently.`;
  if (theirs.length > 0 && ours.length === 0)
    return 'Somebody is on call there by a rule or an override that was not read.';
  if (theirs.length === 0) return 'Nobody is on call there, by a rule or a removal that was not read.';
  return 'Others are on call there, by an override or an earlier form of the schedule that was not read.';
}

/** Cuts a timeline to a window and fills what it leaves out with nobody. */
export function tile(stretches: readonly Stretch[], { from, to }: ProofWindow): Stretch[] {
  const tiled: Stretch[] = [];
  let at = from;
  for (const stretch of stretches.toSorted((a, b) => a.from - b.from)) {
    const start = Math.max(stretch.from, at);
    const end = Math.min(stretch.to, to);
    if (end <= start) continue;
    if (start > at) append(tiled, { from: at, to: start, people: [] });
    append(tiled, { from: start, to: end, people: stretch.people });
    at = end;
  }
  if (at < to) append(tiled, { from: at, to, people: [] });
  return tiled;
}

/** Limit on the shifts of one window: more than one a minute are none. */
const SHIFTS_MAX = 200_000;

/** Fields that decide who is on call in a schedule of the file. */
interface ShiftsInFile {
  readonly timezone: string;
  readonly layers?: readonly LayerInFile[] | undefined;
  readonly overrides?: readonly OverrideInFile[] | undefined;
}

/** Returns who is on call by a schedule of the file within `[from, to)`, tiling the window. */
export function ourShifts(schedule: ShiftsInFile, clock: ZoneClock, from: number, to: number): Stretch[] {
  const inFile = schedule.layers ?? [];
  const layerIds = new Map(inFile.map(({ name }, index) => [name, `layer${index}`]));
  const overrides = (schedule.overrides ?? []).map(({ person, startsAt, endsAt, layer }, index) => ({
    overrideId: asId('override', `override${String(index).padStart(6, '0')}`),
    layerId: layer === undefined ? null : (layerIds.get(layer) ?? null),
    userId: asId('user', person),
    startAt: fromEpochMilliseconds(momentOf(startsAt, clock)),
    endAt: fromEpochMilliseconds(momentOf(endsAt, clock)),
    createdAt: fromEpochMilliseconds(index),
  }));
  const layers = inFile.map(({ name, rotation, turns, startsAt, activeFrom, endsAt, hours }, index): Layer => ({
    id: `layer${index}`,
    name,
    rotation: { every: rotation.every, unit: rotation.unit },
    turns: turns.map(({ people }) => ({ userIds: people.map((person) => asId('user', person)) })),
    startsAt: fromEpochMilliseconds(momentOf(startsAt, clock)),
    activeFrom: activeFrom === undefined ? null : fromEpochMilliseconds(momentOf(activeFrom, clock)),
    endsAt: endsAt === undefined ? null : fromEpochMilliseconds(momentOf(endsAt, clock)),
    hours: hours ?? null,
    holidays: null,
  }));
  const layered = { timeZone: schedule.timezone, clock, layers, overrides, holidays: new Map<string, string[]>() };
  const stretches: Stretch[] = [];
  let at = from;
  const [start, end] = [fromEpochMilliseconds(from), fromEpochMilliseconds(to)];
  for (const shift of eachFinalShiftBetween(layered, start, end, () => true, SHIFTS_MAX)) {
    const since = Math.max(shift.since.epochMilliseconds, at);
    const until = Math.min(shift.until?.epochMilliseconds ?? to, to);
    if (since > at) append(stretches, { from: at, to: since, people: [] });
    if (until > since)
      append(stretches, { from: since, to: until, people: [...new Set<string>(shift.userIds)].toSorted() });
    at = Math.max(at, until);
  }
  if (at < to) append(stretches, { from: at, to, people: [] });
  return stretches;
}

/** Reads a moment of the file in milliseconds. */
export function momentOf(text: string, clock: ZoneClock): number {
  const instant = instantOf(text);
  if (instant !== null) return instant;
  const wall = wallOf(text);
  if (wall === null) throw new Error(`${text} is no moment`);
  return clock.instantOf(wall);
}
