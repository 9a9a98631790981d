import { expect, test } from 'vitest';

import { asId } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';
import { doubleOnCallFinder } from '#modules/policies/decide/double_duty.ts';
import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import { walker } from '#test/modules/schedules/decide/layer_walk.ts';
import { randomOf, randomSchedule } from '#test/modules/schedules/decide/random_schedule.ts';
import { slowRuns } from '#test/kit/properties.ts';

/** `LAYER_CASES=10000` walks as many, `LAYER_SEED` others. */
const CASES = Number(process.env.LAYER_CASES ?? slowRuns(100, 25));
const SEED = Number(process.env.LAYER_SEED ?? 20_261_129);

const MINUTE_MS = 60_000;
const MINUTES = 2 * 24 * 60;
const NAMES = ['primary', 'secondary', 'third'].map((name) => asId('schedule', name));

const step = (afterMinutes: number, ...scheduleIds: number[]): EscalationStep => ({
  afterMinutes,
  channels: ['push'],
  targetUserIds: [],
  useSchedule: true,
  ...(scheduleIds.length > 0 && { scheduleIds: scheduleIds.map((place) => NAMES[place]!) }),
});

const NOBODY: readonly string[] = [];
const isPerson = (word: string) => word !== '' && word !== 'override' && !word.startsWith('layer_');

/** Schedules that a step asks, as the guide says it: those it names, all if it names none. */
const askedBy = ({ useSchedule, scheduleIds = NAMES, turn, policyId }: EscalationStep) =>
  useSchedule && turn !== 'next' && policyId === undefined ? scheduleIds : [];

/** Walks every minute: whoever a step is the first to ask by a schedule, and an earlier step has asked by another. */
function walk(steps: readonly EscalationStep[], peopleAt: (schedule: string, minute: number) => readonly string[]) {
  const found = new Set<string>();
  for (const [stepIndex, later] of steps.entries()) {
    // A step that asks all schedules means everybody.
    for (const second of later.scheduleIds === undefined ? [] : askedBy(later)) {
      const isFirst = steps.every((other, index) => {
        const asksBefore =
          other.afterMinutes < later.afterMinutes || (other.afterMinutes === later.afterMinutes && index < stepIndex);
        return !asksBefore || !askedBy(other).includes(second);
      });
      if (!isFirst) continue;
      for (const first of NAMES) {
        const isEarlier = steps.some(
          (other) => other.afterMinutes < later.afterMinutes && askedBy(other).includes(first),
        );
        if (!isEarlier) continue;
        for (let minute = 0; minute < MINUTES; minute += 1) {
          for (const person of peopleAt(first, minute)) {
            if (peopleAt(second, minute).includes(person))
              found.add(`${stepIndex} ${first} ${second} ${person} ${minute}`);
          }
        }
      }
    }
  }
  return found;
}

test(`people on call twice are those of a walk minute by minute in ${CASES} policies of seed ${SEED}`, () => {
  const random = randomOf(SEED);
  let twice = 0;
  for (let index = 0; index < CASES; index += 1) {
    const cases = NAMES.map(() => randomSchedule(random));
    const [{ from, isPresent }] = cases as [(typeof cases)[number]];
    const start = from.epochMilliseconds;
    const to = from.add({ minutes: MINUTES });
    const below = (count: number) => Math.floor(random() * count);
    const steps = Array.from({ length: 1 + below(4) }, (): EscalationStep => ({
      ...step(5 * below(4), ...NAMES.keys().filter(() => random() < 0.4)),
      ...(random() < 0.15 && { turn: 'next' as const }),
      useSchedule: random() < 0.9,
    }));
    const schedules = cases.map(({ schedule }, place) => ({ id: NAMES[place]!, layered: schedule }));
    const people = new Map(
      cases.map(({ schedule }, place): [string, string[][]] => {
        const who = walker(schedule, to, isPresent);
        const names = (minute: number) => (who(start + minute * MINUTE_MS) ?? '').split(' ').filter(isPerson);
        return [NAMES[place]!, Array.from({ length: MINUTES }, (_, minute) => names(minute))];
      }),
    );
    const peopleAt = (schedule: string, minute: number) => people.get(schedule)?.[minute] ?? NOBODY;
    const expected = walk(steps, peopleAt);
    const found = new Set<string>();
    for (const { stepIndex, scheduleIds, times } of doubleOnCallFinder(schedules, { from, to, isPresent })(steps)) {
      for (const { userId, since, until } of times) {
        const first = Math.ceil((since.epochMilliseconds - start) / MINUTE_MS);
        const last = Math.min(MINUTES, Math.ceil((until.epochMilliseconds - start) / MINUTE_MS));
        for (let minute = first; minute < last; minute += 1) {
          found.add(`${stepIndex} ${scheduleIds.join(' ')} ${userId} ${minute}`);
        }
      }
    }
    const wrong = [...expected.symmetricDifference(found)].slice(0, 3);
    expect(wrong, `case ${index} of seed ${SEED}: ${JSON.stringify(steps)}`).toEqual([]);
    twice += expected.size;
  }
  expect(twice).toBeGreaterThan(CASES * 10);
});

test('a person who is first and second at once is found with the time, and nobody who is only paged again', () => {
  const from = Temporal.Instant.from('2026-11-30T00:00:00Z');
  const of = (...people: string[]) => ({
    timeZone: 'UTC',
    layers: [
      {
        id: 'rotation',
        name: 'Rotation',
        rotation: { every: 1, unit: 'days' as const },
        turns: people.map((name) => ({ userIds: [asId('user', name)] })),
        startsAt: from,
        carried: null,
        activeFrom: null,
        endsAt: null,
        hours: null,
        holidays: null,
      },
    ],
    overrides: [],
    holidays: new Map(),
  });
  const schedules = [
    { id: NAMES[0]!, layered: of('anna', 'dana', 'dana') },
    { id: NAMES[1]!, layered: of('dana', 'dana', 'anna') },
  ];
  const findDoubleDuty = doubleOnCallFinder(schedules, { from, to: from.add({ hours: 72 }), isPresent: () => true });
  expect(findDoubleDuty([step(0, 0), step(10, 1)])).toMatchObject([
    {
      stepIndex: 1,
      scheduleIds: ['primary', 'secondary'],
      times: [{ userId: 'dana', since: from.add({ hours: 24 }), until: from.add({ hours: 48 }) }],
    },
  ]);
  expect(findDoubleDuty([step(0, 0), step(10, 0)])).toEqual([]);
  expect(findDoubleDuty([step(0), step(10, 1)])).toEqual([]);
  expect(findDoubleDuty([step(5, 0), step(5, 1)])).toEqual([]);
});
