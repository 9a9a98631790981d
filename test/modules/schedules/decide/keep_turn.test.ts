import { describe, expect, test } from 'vitest';

import { changesTurns, currentTurn, keepTurn, withTurnsAhead } from '#modules/schedules/decide/keep_turn.ts';
import type { Layer, RotationUnit } from '#modules/schedules/decide/layer.ts';
import { onCallOfSchedule } from '#modules/schedules/decide/layered_shifts.ts';
import { Temporal } from '#kernel/time.ts';
import { ZoneClock } from '#kernel/zone_clock.ts';
import { ANNA, at, BRAM, CHLOE, DIRK, everybody } from '#test/modules/schedules/decide/given_rotation.ts';
import { randomOf } from '#test/modules/schedules/decide/random_schedule.ts';
import { slowRuns } from '#test/kit/properties.ts';

const ZONE = 'Europe/Amsterdam';
const clock = new ZoneClock(ZONE);
const NOW = at('2026-03-04T12:00:00Z');

const layerOf = (turns: (typeof ANNA)[][], changes: Partial<Layer> = {}): Layer => ({
  id: 'rotation',
  name: 'Rotation',
  rotation: { every: 1, unit: 'weeks' },
  turns: turns.map((userIds) => ({ userIds })),
  startsAt: at('2026-03-02T09:00[Europe/Amsterdam]'),
  endsAt: null,
  hours: null,
  holidays: null,
  ...changes,
});

const onCall = (layer: Layer, moment = NOW) =>
  onCallOfSchedule({ timeZone: ZONE, layers: [layer], overrides: [], holidays: new Map() }, moment, everybody);

describe('a change of a layer', () => {
  const before = layerOf([[ANNA], [BRAM], [CHLOE]]);

  test.each([
    ['adds somebody at the front', [[DIRK], [ANNA], [BRAM], [CHLOE]], BRAM],
    ['adds somebody after the present turn', [[ANNA], [DIRK], [BRAM], [CHLOE]], DIRK],
    ['removes the next one', [[ANNA], [CHLOE]], CHLOE],
    ['removes the present one', [[BRAM], [CHLOE]], BRAM],
    ['adds somebody to the present turn', [[ANNA, DIRK], [BRAM]], BRAM],
    ['turns the order round', [[CHLOE], [BRAM], [ANNA]], CHLOE],
  ])('that %s leaves the present turn as it is', (_what, turns, next) => {
    const after = layerOf(turns);
    expect(changesTurns(before, after)).toBe(true);
    const answer = onCall(keepTurn(before, after, clock, NOW));
    expect(answer).toEqual({
      shift: expect.objectContaining({
        userIds: [ANNA],
        since: at('2026-03-02T08:00:00Z'),
        until: at('2026-03-09T08:00:00Z'),
      }),
      next: { userIds: [next], at: at('2026-03-09T08:00:00Z') },
    });
  });

  test('of a layer that has not begun changes it as it is asked', () => {
    const later = layerOf([[ANNA], [BRAM]], { startsAt: at('2026-04-01T00:00:00Z') });
    const after = { ...later, turns: [{ userIds: [CHLOE] }] };
    expect(keepTurn(later, after, clock, NOW)).toEqual(after);
  });

  test('keeps the time of the day of all hand-overs when the clocks skip that of the next', () => {
    const startsAt = at('2026-03-01T02:30[Europe/Amsterdam]');
    const daily = layerOf([[ANNA], [BRAM]], { startsAt, rotation: { every: 1, unit: 'days' } });
    const day = at('2026-03-28T12:00:00Z');
    const kept = keepTurn(daily, { ...daily, turns: [...daily.turns, { userIds: [CHLOE] }] }, clock, day);
    const again = keepTurn(kept, { ...kept, turns: [{ userIds: [DIRK] }, ...kept.turns] }, clock, day);
    for (const layer of [daily, kept, again]) {
      const turn = currentTurn(layer, clock, day.epochMilliseconds)!;
      expect(turn.until).toEqual(at('2026-03-29T01:30:00Z'));
      const following = currentTurn(layer, clock, turn.until.epochMilliseconds)!;
      expect(following.until).toEqual(at('2026-03-30T02:30[Europe/Amsterdam]'));
    }
  });

  test('keeps the present people and the time of the hand-over in random layers, whatever changes', () => {
    const random = randomOf(20_261_128);
    const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
    const people = () => Array.from({ length: 1 + Math.floor(random() * 2) }, () => pick([ANNA, BRAM, CHLOE, DIRK]));
    const length = () => ({
      every: 1 + Math.floor(random() * 3),
      unit: pick<RotationUnit>(['hours', 'days', 'weeks', 'months']),
    });
    const turns = () => Array.from({ length: 1 + Math.floor(random() * 4) }, people);
    for (let index = 0; index < slowRuns(2_000); index += 1) {
      const startsAt = NOW.subtract({ minutes: Math.floor(random() * 90 * 1440) });
      const given = layerOf(turns(), { startsAt, rotation: length() });
      const after = layerOf(turns(), { startsAt, rotation: length() });
      const kept = keepTurn(given, after, clock, NOW);
      const [was, is] = [given, kept].map((layer) => currentTurn(layer, clock, NOW.epochMilliseconds)!);
      expect([new Set(is!.userIds), is!.until.toString()], `case ${index}`).toEqual([
        new Set(was!.userIds),
        was!.until.toString(),
      ]);
      const following = currentTurn(kept, clock, was!.until.epochMilliseconds);
      expect(following?.since.toString()).toBe(was!.until.toString());
      expect(Temporal.Instant.compare(following!.until, was!.until)).toBe(1);
    }
  });
});

test('the copy of a layer has on call whose turn follows in it, at every instant, after an edit too', () => {
  const random = randomOf(20_261_129);
  const below = (count: number) => Math.floor(random() * count);
  const people = [ANNA, BRAM, CHLOE, DIRK];
  const someTurns = () => Array.from({ length: 1 + below(4) }, (_, place) => [people[place]!]);
  for (let index = 0; index < slowRuns(1_200); index += 1) {
    const someLength = () => {
      return { every: 1 + below(3), unit: (['hours', 'days', 'weeks', 'months'] as RotationUnit[])[below(4)]! };
    };
    const before = layerOf(someTurns(), { rotation: someLength() });
    const edited = keepTurn(before, layerOf(someTurns(), { rotation: someLength() }), clock, NOW);
    for (const layer of [before, edited]) {
      const copy = withTurnsAhead(layer, clock);
      let moment = NOW;
      for (let turn = 0; turn < 6; turn += 1) {
        const own = currentTurn(layer, clock, moment.epochMilliseconds)!;
        const following = currentTurn(layer, clock, own.until.epochMilliseconds)!;
        const ahead = currentTurn(copy, clock, moment.epochMilliseconds)!;
        expect([ahead.userIds, ahead.until.toString()]).toEqual([following.userIds, own.until.toString()]);
        moment = own.until;
      }
    }
  }
});
