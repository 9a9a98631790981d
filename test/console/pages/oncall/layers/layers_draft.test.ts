import { describe, expect, test } from 'vitest';

import { toZoneField } from '#console/pages/oncall/schedule_draft.ts';
import fc from '#test/kit/properties.ts';
import {
  edgesOf,
  layersDraftOf,
  layersFaults,
  layersInput,
  turnLengthText,
  windowOf,
  windowText,
  withChanges,
  withEdgeMoved,
  withLayer,
  withLayerMoved,
  withNobody,
  withPersonIn,
  withTurnMoved,
} from '#console/pages/oncall/layers/layers_draft.ts';
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

  test('has a new layer without an id, from the beginning of the day', () => {
    const two = withLayer(draft, NOW);
    expect(layersInput(two, SCHEDULE).layers[1]).toMatchObject({ name: 'Layer 2', startsAt: '2026-11-28T00:00' });
    expect(layersInput(two, SCHEDULE).layers[1]).not.toHaveProperty('layerId');
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

test('a time that is dragged over the bar is a window of the week in the zone of the schedule', () => {
  const at = (text: string) => Date.parse(text);
  expect(windowOf(at('2026-03-02T21:05:00Z'), at('2026-03-03T05:00:00Z'), 'Europe/Amsterdam')).toEqual({
    fromDay: 1,
    from: '22:00',
    toDay: 2,
    to: '06:00',
  });
  expect(windowText(windowOf(at('2026-03-08T11:00:00Z'), at('2026-03-08T23:00:00Z'), 'Europe/Amsterdam'))).toBe(
    'Sunday 12:00 to 24:00',
  );
});

describe('the edges of a bar', () => {
  const layer = withLayer(draft, NOW).layers[1]!;
  const zones = ['Europe/Amsterdam', 'Australia/Lord_Howe', 'Asia/Kathmandu', 'America/New_York', 'UTC'] as const;
  const time = fc.tuple(fc.integer({ min: 0, max: 23 }), fc.constantFrom('00', '15', '30')).map(([hour, minute]) => {
    return `${String(hour).padStart(2, '0')}:${minute}`;
  });
  const day = fc.integer({ min: 1, max: 7 });
  const window = fc
    .record({ fromDay: day, from: time, toDay: day, to: time })
    .filter(({ fromDay, from, toDay, to }) => fromDay !== toDay || from !== to);

  test('stand where the wall clock of the zone shows them, also over a change of clocks, and come back where they were', () => {
    const moved = fc.integer({ min: -600, max: 600 }).map((halves) => halves * 30);
    const from = fc.integer({ min: 0, max: 8_760 }).map((hours) => Date.UTC(2026, 0, 1) + hours * 3_600_000);
    let skipped = 0;
    fc.assert(
      fc.property(window, fc.constantFrom(...zones), from, moved, (hours, timeZone, start, by) => {
        const bar = { ...layer, hours: [hours] };
        const edges = edgesOf(bar, { from: start, to: start + 8 * 86_400_000 }, { timeZone, now: start });
        expect(edges.map(({ kind }) => kind)).toEqual(['begin', 'end']);
        for (const edge of edges) {
          const { text, at } = edge;
          // A time that the clocks skip has no place of its own.
          if (toZoneField(at, timeZone).slice(11) !== text.split(' ')[1]) skipped += 1;
          expect(at).toBeGreaterThanOrEqual(start - 3_600_000);
          const changed = { ...bar, ...withEdgeMoved(bar, edge, by) };
          const back = withEdgeMoved(changed, edge, -by);
          expect(
            changed.hours === bar.hours ||
              windowText(back.hours![0]!) === (edge.kind === 'begin' ? windowText(hours) : plain(hours)),
          ).toBe(true);
        }
      }),
      { numRuns: 500 },
    );
    expect(skipped).toBeLessThan(20);
  });
  const plain = (hours: Parameters<typeof windowText>[0]) =>
    windowText(
      hours.to === '00:00' ? { ...hours, toDay: hours.toDay === 1 ? 7 : hours.toDay - 1, to: '24:00' } : hours,
    );

  test('move by half hours, over midnight, and leave a time its length', () => {
    const bar = { ...layer, hours: [{ fromDay: 1, from: '22:00', toDay: 2, to: '06:00' }] };
    const begin = { kind: 'begin', place: 0 } as const;
    expect(withEdgeMoved(bar, begin, 150)).toEqual({ hours: [{ fromDay: 2, from: '00:30', toDay: 2, to: '06:00' }] });
    expect(withEdgeMoved(bar, begin, 480)).toEqual({});
    expect(withEdgeMoved(bar, { ...begin, kind: 'end' }, -360)).toEqual({
      hours: [{ fromDay: 1, from: '22:00', toDay: 1, to: '24:00' }],
    });
  });

  test('of a layer that always speaks is the next hand-over, which moves the start of the turns', () => {
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
