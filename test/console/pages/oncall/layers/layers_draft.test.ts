import { describe, expect, test } from 'vitest';

import { toZoneField, withNobody, withPersonIn, withTurnMoved } from '#console/pages/oncall/schedule_draft.ts';
import fc from '#test/kit/properties.ts';
import {
  layersDraftOf,
  layersFaults,
  layersInput,
  turnLengthText,
  withChanges,
  withLayer,
  withLayerMoved,
} from '#console/pages/oncall/layers/layers_draft.ts';
import {
  edgesOf,
  rowsOf,
  rowText,
  USUAL_HOURS,
  type WeekWindow,
  windowOf,
  windowsOf,
  withEdgeMoved,
  withWindow,
} from '#console/pages/oncall/layers/week_hours.ts';
import type { ShownSchedule } from '#console/pages/oncall/use_timeline.ts';

const SCHEDULE: ShownSchedule = {
  scheduleId: 'schedule_1',
  teamId: 'team_1',
  teamName: 'Payments',
  name: 'Primary',
  timezone: 'Europe/Amsterdam',
  rotationType: 'weekly',
  rotationConfig: { userIds: ['anna', 'bram'] },
  startAt: '2026-10-25T01:30:00.000Z',
  createdAt: '2026-03-01T08:00:00.000Z',
  updatedAt: '2026-03-01T08:00:00.000Z',
  onCall: null,
  next: null,
  handOver: null,
  shifts: [],
  shownUntil: null,
  overrides: [],
  holidays: [],
  gaps: [],
  gapCount: 0,
};

const NOW = Date.parse('2026-11-28T12:00:00Z');
const draft = layersDraftOf(SCHEDULE);

describe('what is sent of the editor', () => {
  test('is the rotation as the first layer, with its exact start while the field says the same', () => {
    expect(layersInput(draft, SCHEDULE)).toEqual({
      timezone: 'Europe/Amsterdam',
      keepTurns: true,
      layers: [
        {
          layerId: 'rotation',
          name: 'Rotation',
          rotation: { every: 1, unit: 'weeks' },
          turns: [{ userIds: ['anna'] }, { userIds: ['bram'] }],
          startsAt: '2026-10-25T01:30:00.000Z',
          endsAt: null,
          hours: null,
          holidays: null,
        },
      ],
    });
    const moved = withChanges(draft, 0, { startsAt: '2026-10-25T03:30' });
    expect(layersInput(moved, SCHEDULE).layers[0]?.startsAt).toBe('2026-10-25T03:30');
  });

  test('has a new layer without an id, which changes hands when the rotation does', () => {
    const two = withLayer(draft, NOW);
    // The rotation began on a Sunday at 02:30 by its clock, and this is a Saturday.
    expect(layersInput(two, SCHEDULE).layers[1]).toMatchObject({ name: 'Layer 2', startsAt: '2026-11-22T02:30' });
    expect(layersInput(two, SCHEDULE).layers[1]).not.toHaveProperty('layerId');
    const ahead = withLayer(withChanges(draft, 0, { startsAt: '2026-12-07T09:00' }), NOW);
    expect(ahead.layers[1]?.startsAt).toBe('2026-11-23T09:00');
  });
});

test('layers are moved by one place, and the rotation stays the lowest', () => {
  const three = withLayer(withLayer(draft, NOW), NOW);
  const names = ({ layers }: typeof draft) => layers.map(({ name }) => name).join(', ');
  expect(names(withLayerMoved(three, 2, -1))).toBe('Rotation, Layer 3, Layer 2');
  expect(names(withLayerMoved(three, 1, -1))).toBe(names(three));
  expect(names(withLayerMoved(three, 2, 1))).toBe(names(three));
});

test('a person gets a turn, or joins the last one; a turn may be nobody’s', () => {
  const turns = withNobody(withPersonIn(withPersonIn([], 'anna', false), 'bram', true));
  expect(turns.map(({ userIds }) => userIds)).toEqual([['anna', 'bram'], []]);
  expect(withTurnMoved(turns, 1, -1).map(({ userIds }) => userIds)).toEqual([[], ['anna', 'bram']]);
});

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
/** Writes `fri 17:00 - mon 09:00` for every window, in the order of the days. */
const texts = (windows: readonly WeekWindow[]) =>
  windows.map(({ fromDay, from, toDay, to }) => `${DAYS[fromDay - 1]} ${from} - ${DAYS[toDay - 1]} ${to}`).toSorted();

describe('hours with one pair of times for several days', () => {
  const [NIGHTS, WEEKENDS, OFFICE] = USUAL_HOURS.map(({ hours }) => hours);

  test('are nights, weekends and the hours of the office', () => {
    expect(texts(windowsOf(NIGHTS!)).slice(0, 2)).toEqual(['fri 17:00 - sat 09:00', 'mon 17:00 - tue 09:00']);
    expect(texts(windowsOf(NIGHTS!))).toHaveLength(7);
    expect(texts(windowsOf(WEEKENDS!))).toEqual(['fri 17:00 - mon 09:00']);
    expect(texts(windowsOf(OFFICE!)).at(-1)).toBe('wed 09:00 - wed 17:00');
  });

  test('are said in a few words', () => {
    expect([NIGHTS, WEEKENDS, OFFICE].map((hours) => rowText(hours![0]!))).toEqual([
      'every day 17:00 to 09:00 the next day',
      'Friday 17:00 to Monday 09:00',
      'Monday to Friday 09:00 to 17:00',
    ]);
    expect(rowText({ days: [6, 7], from: '00:00', to: '24:00', later: 0 })).toBe('Sat, Sun 00:00 to 24:00');
  });

  const time = fc.constantFrom('00:00', '09:00', '09:30', '17:00', '24:00');
  const day = fc.integer({ min: 1, max: 7 });
  const windows = fc.array(fc.record({ fromDay: day, from: time, toDay: day, to: time }), { maxLength: 12 });

  test('are the stored windows in another order, whatever they are', () => {
    const property = fc.property(windows, (all) => {
      expect(texts(windowsOf(rowsOf(all)))).toEqual(texts(all));
    });
    fc.assert(property);
  });

  test('changed once are changed on all their days', () => {
    const changed = windowsOf(NIGHTS!.map((row) => ({ ...row, from: '20:00' })));
    expect(new Set(changed.map(({ from }) => from))).toEqual(new Set(['20:00']));
  });

  test('that are dragged over the bar join those with the same times', () => {
    const at = (text: string) => Date.parse(text);
    const night = windowOf(at('2026-03-02T21:05:00Z'), at('2026-03-03T05:00:00Z'), 'Europe/Amsterdam');
    expect(night).toEqual({ fromDay: 1, from: '22:00', toDay: 2, to: '06:00' });
    const another = { ...night, fromDay: 3, toDay: 4 };
    expect(withWindow(withWindow([], another), night).map(rowText)).toEqual(['Mon, Wed 22:00 to 06:00 the next day']);
    const noon = windowOf(at('2026-03-08T11:00:00Z'), at('2026-03-08T23:00:00Z'), 'Europe/Amsterdam');
    expect(rowsOf([noon]).map(rowText)).toEqual(['Sunday 12:00 to 24:00']);
  });
});

describe('the edges of a bar', () => {
  const layer = withLayer(draft, NOW).layers[1]!;
  const zones = ['Europe/Amsterdam', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'America/New_York', 'UTC'] as const;
  const time = fc.tuple(fc.integer({ min: 0, max: 23 }), fc.constantFrom('00', '15', '30')).map(([hour, minute]) => {
    return `${String(hour).padStart(2, '0')}:${minute}`;
  });
  const row = fc.record({
    days: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
    from: time,
    to: time,
    later: fc.integer({ min: 0, max: 6 }),
  });

  test('stand where the wall clock of the zone shows them, also over a change of clocks, and come back where they were', () => {
    const moved = fc.integer({ min: -300, max: 300 }).map((halves) => halves * 30);
    const from = fc.integer({ min: 0, max: 8_760 }).map((hours) => Date.UTC(2026, 0, 1) + hours * 3_600_000);
    let [skipped, edgeCount] = [0, 0];
    fc.assert(
      fc.property(row, fc.constantFrom(...zones), from, moved, (hours, timeZone, start, by) => {
        const bar = { ...layer, hours: [hours] };
        const edges = edgesOf(bar, { from: start, to: start + 8 * 86_400_000 }, { timeZone, now: start });
        expect(edges.map(({ kind }) => kind)).toEqual(hours.days.flatMap(() => ['begin', 'end']));
        for (const edge of edges) {
          edgeCount += 1;
          const { text, at } = edge;
          // A time that the clocks skip has no place of its own.
          if (toZoneField(at, timeZone).slice(11) !== text.split(' ')[1]) skipped += 1;
          expect(at).toBeGreaterThanOrEqual(start - 3_600_000);
          const changed = { ...bar, ...withEdgeMoved(bar, edge, by) };
          const back = withEdgeMoved(changed, edge, -by);
          const midnight = ({ hours: rows }: ReturnType<typeof withEdgeMoved>) =>
            texts(windowsOf(rows ?? [])).map((text) => text.replace(/\w+ (00:00|24:00)$/, 'midnight'));
          expect(changed.hours === bar.hours ? midnight(bar) : midnight(back)).toEqual(midnight(bar));
        }
      }),
      { numRuns: 150 },
    );
    expect(skipped).toBeLessThan(edgeCount / 50);
  });

  test('move by half hours on all days, over midnight, and leave hours their length', () => {
    const bar = { ...layer, hours: [{ days: [1, 7], from: '22:00', to: '06:00', later: 0 }] };
    const begin = { kind: 'begin', place: 0 } as const;
    const moved = (edge: Parameters<typeof withEdgeMoved>[1], by: number) => {
      const { hours } = withEdgeMoved(bar, edge, by);
      return hours ? texts(windowsOf(hours)) : null;
    };
    expect(moved(begin, 150)).toEqual(['mon 00:30 - mon 06:00', 'tue 00:30 - tue 06:00']);
    expect(moved(begin, 480)).toBeNull();
    expect(moved({ ...begin, kind: 'end' }, -360)).toEqual(['mon 22:00 - mon 24:00', 'sun 22:00 - sun 24:00']);
    expect(moved({ ...begin, kind: 'end' }, 1_440)).toEqual(['mon 22:00 - wed 06:00', 'sun 22:00 - tue 06:00']);
  });

  test('of a layer without hours is the next hand-over, which moves the start of the turns', () => {
    const range = { from: NOW, to: NOW + 7 * 86_400_000 };
    const [rotation] = draft.layers;
    const [edge, ...others] = edgesOf(rotation!, range, { timeZone: draft.timezone, now: NOW });
    expect([edge?.kind, edge?.text, others.length]).toEqual(['hand_over', 'Sunday 02:30', 0]);
    expect(toZoneField(edge!.at, draft.timezone)).toBe('2026-11-29T02:30');
    expect(withEdgeMoved(rotation!, edge!, 60)).toEqual({ startsAt: '2026-10-25T03:30' });
    expect(edgesOf({ ...rotation!, unit: 'months' }, range, { timeZone: 'UTC', now: NOW })).toEqual([]);
  });
});

test('what is wrong is said at the field', () => {
  const wrong = withChanges(withChanges(withLayer(draft, NOW), 1, { hours: [], name: '' }), 0, { every: '0' });
  expect(Object.keys(layersFaults(wrong))).toEqual([
    'layers[0].rotation',
    'layers[1].name',
    'layers[1].turns',
    'layers[1].hours',
  ]);
  expect(layersFaults(draft)).toEqual({});
});

test('the length of a turn is said in the largest unit', () => {
  expect(turnLengthText({ every: 336, unit: 'hours' })).toBe('every 2 weeks');
  expect(turnLengthText({ every: 1, unit: 'months' })).toBe('every month');
});
