import { describe, expect, test } from 'vitest';

import {
  layersDraftOf,
  layersFaults,
  layersInput,
  turnLengthText,
  windowOf,
  windowText,
  withChanges,
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
