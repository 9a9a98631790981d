import { describe, expect, test } from 'vitest';

import {
  draftFaults,
  draftOf,
  lengthText,
  newDraft,
  rotationInput,
  type ScheduleDraft,
  toZoneField,
  withMoved,
  withoutTurn,
  withPerson,
} from '#console/pages/oncall/schedule_draft.ts';
import type { ShownSchedule } from '#console/pages/oncall/use_timeline.ts';

const SCHEDULE: ShownSchedule = {
  scheduleId: 'schedule_1',
  teamId: 'team_1',
  teamName: 'Payments',
  name: 'Primary',
  timezone: 'Europe/Amsterdam',
  rotationType: 'weekly',
  rotationConfig: { userIds: ['anna', 'bram', 'cleo'] },
  startAt: '2026-03-02T08:00:00.000Z',
  createdAt: '2026-03-01T08:00:00.000Z',
  updatedAt: '2026-03-01T08:00:00.000Z',
  onCall: null,
  next: null,
  handOver: { at: '2026-10-25T01:30:00.000Z', position: 1 },
  shifts: [],
  shownUntil: null,
  overrides: [],
  gaps: [],
  gapCount: 0,
};

const draft = draftOf(SCHEDULE);
const people = ({ turns }: ScheduleDraft) => turns.map(({ userId }) => userId).join(' ');

describe('what is sent of a form', () => {
  test('leaves the turns as they are when only the name was changed', () => {
    const { rotationType, rotationConfig, timezone } = SCHEDULE;
    expect(rotationInput({ ...draft, name: 'Other' }, SCHEDULE)).toEqual({ rotationType, rotationConfig, timezone });
  });

  test('counts turns from the hand-over when people change, at its exact time while the field says the same', () => {
    expect(rotationInput(withPerson(draft, 'dirk'), SCHEDULE)).toMatchObject({
      rotationConfig: { userIds: ['anna', 'bram', 'cleo', 'dirk'] },
      handOver: { at: '2026-10-25T01:30:00.000Z', position: 1 },
    });
    expect(rotationInput({ ...draft, handOverAt: '2026-10-26T09:00' }, SCHEDULE).handOver).toEqual({
      at: '2026-10-26T09:00',
      position: 1,
    });
    const inOtherZone = { ...draft, timezone: 'Asia/Tokyo' };
    expect(rotationInput(inOtherZone, SCHEDULE).handOver?.at).toBe('2026-10-25T02:30');
  });

  test.each([
    ['24', 'daily', undefined],
    ['168', 'weekly', undefined],
    ['12', 'weekly', 12],
  ])('turns of %s hours are %s with %s shift hours', (hours, rotationType, shiftHours) => {
    const input = rotationInput({ ...draft, hours }, null);
    expect([input.rotationType, input.rotationConfig.shiftHours]).toEqual([rotationType, shiftHours]);
  });
});

describe('the order of people', () => {
  test('is moved by one place, and not over its ends', () => {
    expect(people(withMoved(draft, 0, 1))).toBe('bram anna cleo');
    expect(people(withMoved(draft, 0, -1))).toBe('anna bram cleo');
    expect(people(withMoved(draft, 2, 1))).toBe('anna bram cleo');
  });

  const next = (changed: ScheduleDraft) => {
    const { rotationConfig, handOver } = rotationInput(changed, SCHEDULE);
    return rotationConfig.userIds[handOver?.position ?? -1];
  };

  test('keeps who is on call until the hand-over, and then goes on with who stands after them', () => {
    expect(next(withMoved(draft, 2, -1))).toBe('cleo');
    expect(next(withMoved(draft, 0, 1))).toBe('cleo');
    expect(next(withPerson({ ...draft, running: 2 }, 'dirk'))).toBe('dirk');
    expect(next(withoutTurn(draft, 1))).toBe('cleo');
    expect(next(withoutTurn(draft, 0))).toBe('bram');
    expect(next(withoutTurn({ ...draft, running: 2 }, 2))).toBe('anna');
  });

  test('leaves who takes over to a choice, until that person is removed', () => {
    const chosen = { ...draft, handOverTo: 2 };
    expect(next(withMoved(chosen, 2, -1))).toBe('cleo');
    expect(next(withoutTurn(chosen, 2))).toBe('anna');
  });

  test('may have somebody twice', () => {
    const twice = withPerson(draft, 'anna');
    expect(people(twice)).toBe('anna bram cleo anna');
    expect(new Set(twice.turns.map(({ key }) => key)).size).toBe(4);
  });
});

test('a new schedule puts somebody on call at once, from the last Monday at 9:00', () => {
  for (let day = 0; day < 14; day += 1) {
    const now = new Date(2026, 10, 20 + day, 3).getTime();
    const at = new Date(newDraft(now, 'team_1').handOverAt);
    expect([at.getDay(), at.getHours(), at.getTime() <= now]).toEqual([1, 9, true]);
    expect(now - at.getTime()).toBeLessThan(8 * 24 * 3_600_000);
  }
});

test('what is wrong is said at the field', () => {
  const wrong = { ...draft, name: ' ', timezone: 'Mars', turns: [], hours: '1.5', handOverAt: '' };
  expect(Object.keys(draftFaults(wrong))).toEqual(['name', 'timezone', 'turns', 'hours', 'handOverAt']);
  expect(draftFaults(draft)).toEqual({});
});

test('times are written in the zone of the schedule', () => {
  expect(toZoneField(Date.parse('2026-03-09T08:00:00Z'), 'Europe/Amsterdam')).toBe('2026-03-09T09:00');
  expect(toZoneField(Date.parse('2026-03-09T23:30:00Z'), 'Australia/Lord_Howe')).toBe('2026-03-10T10:30');
});

test('the length of a turn is said in the largest unit', () => {
  expect([1, 12, 24, 48, 168, 336].map(lengthText)).toEqual([
    'every hour',
    'every 12 hours',
    'every day',
    'every 2 days',
    'every week',
    'every 2 weeks',
  ]);
});
