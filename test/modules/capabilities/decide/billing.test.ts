import fc, { slowRuns } from '#test/kit/properties.ts';
import { describe, expect, test } from 'vitest';

import {
  type BillingPeriod,
  type CapabilityState,
  decideEnable,
  dueRenewals,
  monthsAfter,
} from '#modules/capabilities/decide/billing.ts';
import { Temporal } from '#kernel/time.ts';

const at = (text: string) => Temporal.Instant.from(text);
const textOf = ({ startsAt, endsAt }: BillingPeriod) => [startsAt.toString(), endsAt.toString()];

describe('the end of a month of use', () => {
  test.each([
    ['2027-01-31T10:00:00Z', 1, '2027-02-28T10:00:00Z'],
    ['2027-01-31T10:00:00Z', 2, '2027-03-31T10:00:00Z'],
    ['2027-01-31T10:00:00Z', 3, '2027-04-30T10:00:00Z'],
    ['2028-01-31T10:00:00Z', 1, '2028-02-29T10:00:00Z'],
    ['2028-02-29T23:59:59.999Z', 12, '2029-02-28T23:59:59.999Z'],
    ['2028-02-29T23:59:59.999Z', 48, '2032-02-29T23:59:59.999Z'],
    ['2027-12-30T00:00:00Z', 2, '2028-02-29T00:00:00Z'],
    // Clocks change on the 28th of March and the 31st of October in Europe; UTC knows nothing of it.
    ['2027-03-27T01:30:00Z', 1, '2027-04-27T01:30:00Z'],
    ['2027-10-31T01:30:00Z', 1, '2027-11-30T01:30:00Z'],
  ])('%s and %i months is %s', (anchor, count, end) => {
    expect(monthsAfter(at(anchor), count).toString()).toBe(end);
  });

  test('is the same day and time of UTC, or the last day of a month that is too short', () => {
    fc.assert(
      fc.property(instant, fc.integer({ min: 0, max: 1_200 }), (anchor, count) => {
        expect(monthsAfter(anchor, count).toString()).toBe(slowMonthsAfter(anchor, count).toString());
      }),
    );
  });
});

test('a renewal that comes many months late charges each month once, from end to end', () => {
  const { state } = decideEnable('metrics', null, at('2027-08-31T00:00:00Z'));
  expect(dueRenewals('metrics', state, at('2028-04-01T00:00:00Z')).map(textOf)).toEqual([
    ['2027-09-30T00:00:00Z', '2027-10-31T00:00:00Z'],
    ['2027-10-31T00:00:00Z', '2027-11-30T00:00:00Z'],
    ['2027-11-30T00:00:00Z', '2027-12-31T00:00:00Z'],
    ['2027-12-31T00:00:00Z', '2028-01-31T00:00:00Z'],
    ['2028-01-31T00:00:00Z', '2028-02-29T00:00:00Z'],
    ['2028-02-29T00:00:00Z', '2028-03-31T00:00:00Z'],
    ['2028-03-31T00:00:00Z', '2028-04-30T00:00:00Z'],
  ]);
});

test('a period has begun at its first instant, and not a millisecond earlier', () => {
  const { state } = decideEnable('metrics', null, at('2027-01-31T10:00:00Z'));
  expect(dueRenewals('metrics', state, at('2027-02-28T09:59:59.999Z'))).toEqual([]);
  expect(dueRenewals('metrics', state, at('2027-02-28T10:00:00Z'))).toHaveLength(1);
  const disabled = { ...state, isEnabled: false };
  expect(decideEnable('metrics', disabled, at('2027-02-28T09:59:59.999Z')).period).toBeNull();
  expect(textOf(decideEnable('metrics', disabled, at('2027-02-28T10:00:00Z')).period!)).toEqual([
    '2027-02-28T10:00:00Z',
    '2027-03-28T10:00:00Z',
  ]);
});

test('times are cut off to milliseconds, as the ledger stores them', () => {
  const { state, period } = decideEnable('metrics', null, at('2027-01-01T00:00:00.000999999Z'));
  expect(state.anchor.toString()).toBe('2027-01-01T00:00:00Z');
  expect(textOf(period!)).toEqual(['2027-01-01T00:00:00Z', '2027-02-01T00:00:00Z']);
});

test('each month of use is charged exactly once, whatever the order of enabling, disabling and renewing', () => {
  fc.assert(
    fc.property(instant, fc.array(step, { maxLength: 30 }), (start, steps) => {
      const { ledger, used } = play(start, steps);
      const overlaps = ledger.slice(1).filter((later, index) => isBefore(later.startsAt, ledger[index]!.endsAt));
      expect(overlaps.map(textOf)).toEqual([]);
      const isUsed = ({ startsAt, endsAt }: BillingPeriod): boolean =>
        used.some(([from, to]) => isBefore(from, endsAt) && isAtOrBefore(startsAt, to));
      expect(ledger.filter((period) => !isUsed(period)).map(textOf)).toEqual([]);
      expect(used.flatMap(([from, to]) => gapsIn(ledger, from, to))).toEqual([]);
      expect(new Set(ledger.map(({ amountCents, currency }) => `${amountCents} ${currency}`)).size).toBeLessThan(2);
    }),
    { numRuns: slowRuns(2_000) },
  );
});

test('when renewals run does not change what is charged', () => {
  fc.assert(
    fc.property(instant, fc.array(step, { maxLength: 30 }), (start, steps) => {
      const { ledger, happened } = play(start, steps);
      const often = happened.flatMap(({ at: when, what }) => [exactly(when, 'renew'), exactly(when, what)]);
      const never = happened.filter(({ what }) => what !== 'renew').map(({ at: when, what }) => exactly(when, what));
      const last = happened.at(-1)?.at ?? start;
      for (const others of [often, [...never, exactly(last, 'renew')]]) {
        expect(play(start, others).ledger.map(textOf)).toEqual(ledger.map(textOf));
      }
    }),
    { numRuns: slowRuns(2_000) },
  );
});

const instant = fc
  .date({ min: new Date('2024-01-01T00:00:00Z'), max: new Date('2100-01-01T00:00:00Z'), noInvalidDate: true })
  .map((date) => Temporal.Instant.fromEpochMilliseconds(date.getTime()));

type What = 'enable' | 'disable' | 'renew';

interface Step {
  /** Time of the change, given the state before; never earlier than that. */
  readonly when: (state: CapabilityState | null, now: Temporal.Instant) => Temporal.Instant;
  readonly what: What;
}

const exactly = (moment: Temporal.Instant, what: What): Step => ({ when: () => moment, what });

/** Some time later, or just around the next renewal. */
const DAY_MS = 86_400_000;
const step: fc.Arbitrary<Step> = fc
  .record({
    afterMs: fc.oneof(fc.integer({ min: 0, max: 40 * DAY_MS }), fc.integer({ min: 0, max: 700 * DAY_MS })),
    edgeMs: fc.option(fc.constantFrom(-1, 0, 1)),
    what: fc.constantFrom<What>('enable', 'disable', 'renew'),
  })
  .map(({ afterMs, edgeMs, what }) => ({
    what,
    when(state, now) {
      if (edgeMs === null || state === null) return now.add({ milliseconds: afterMs });
      const around = nextEdge(state, now).add({ milliseconds: edgeMs });
      return isBefore(around, now) ? now : around;
    },
  }));

interface Played {
  readonly ledger: BillingPeriod[];
  /** The stretches in which it was enabled, both ends included. */
  readonly used: (readonly [Temporal.Instant, Temporal.Instant])[];
  readonly happened: { readonly at: Temporal.Instant; readonly what: What }[];
}

/** Runs the actions and the worker in the order of time; at the end the worker has caught up. */
function play(start: Temporal.Instant, steps: readonly Step[]): Played {
  const played: Played = { ledger: [], used: [], happened: [] };
  let state: CapabilityState | null = null;
  let enabledAt = start;
  let now = start;
  for (const { when, what } of [...steps, exactly(start, 'renew')]) {
    const moment = when(state, now);
    now = isBefore(moment, now) ? now : moment;
    played.happened.push({ at: now, what });
    if (what === 'enable' && state?.isEnabled !== true) {
      const decision = decideEnable('oncall', state, now);
      state = decision.state;
      played.ledger.push(...(decision.period === null ? [] : [decision.period]));
      enabledAt = now;
    }
    if (what === 'enable' || state === null) continue;
    const periods = dueRenewals('oncall', state, now);
    played.ledger.push(...periods);
    state = { ...state, billedUntil: periods.at(-1)?.endsAt ?? state.billedUntil };
    if (what === 'renew' || !state.isEnabled) continue;
    played.used.push([enabledAt, now]);
    state = { ...state, isEnabled: false };
  }
  if (state?.isEnabled === true) played.used.push([enabledAt, now]);
  return played;
}

/** The end of the month of use that runs at `now`. */
function nextEdge({ anchor }: CapabilityState, now: Temporal.Instant): Temporal.Instant {
  let count = 1;
  while (isAtOrBefore(slowMonthsAfter(anchor, count), now)) count += 1;
  return slowMonthsAfter(anchor, count);
}

/** Adds months by the fields of the calendar alone. */
function slowMonthsAfter(anchor: Temporal.Instant, count: number): Temporal.Instant {
  const date = new Date(anchor.epochMilliseconds);
  const month = date.getUTCMonth() + count;
  const lastDay = new Date(Date.UTC(date.getUTCFullYear(), month + 1, 0)).getUTCDate();
  const day = Math.min(date.getUTCDate(), lastDay);
  const timeOfDayMs = anchor.epochMilliseconds - Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate());
  return Temporal.Instant.fromEpochMilliseconds(Date.UTC(date.getUTCFullYear(), month, day) + timeOfDayMs);
}

/** Returns the instants of the stretch, its ends included, that are in no period. */
function gapsIn(ledger: readonly BillingPeriod[], from: Temporal.Instant, to: Temporal.Instant): string[] {
  const edges = [from, to, ...ledger.flatMap(({ startsAt, endsAt }) => [startsAt, endsAt])];
  return edges
    .filter((edge) => isAtOrBefore(from, edge) && isAtOrBefore(edge, to))
    .filter((edge) => !ledger.some(({ startsAt, endsAt }) => isAtOrBefore(startsAt, edge) && isBefore(edge, endsAt)))
    .map(String);
}

function isBefore(a: Temporal.Instant, b: Temporal.Instant): boolean {
  return Temporal.Instant.compare(a, b) < 0;
}

function isAtOrBefore(a: Temporal.Instant, b: Temporal.Instant): boolean {
  return Temporal.Instant.compare(a, b) <= 0;
}
