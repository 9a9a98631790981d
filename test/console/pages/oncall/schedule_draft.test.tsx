import { describe, expect, test } from 'vitest';

import {
  draftFaults,
  lengthText,
  newDraft,
  rotationInput,
  toZoneField,
  type TurnDraft,
  withPersonIn,
  withTurnMoved,
} from '#console/pages/oncall/schedule_draft.ts';
import { beginningText } from '#console/pages/oncall/schedule_form.tsx';

const turns = ['anna', 'bram', 'cleo'].reduce<readonly TurnDraft[]>((all, id) => withPersonIn(all, id, false), []);
const draft = { ...newDraft(0, 'team_1'), name: 'Primary', turns };
const people = (all: readonly TurnDraft[]) => all.map(({ userIds }) => userIds.join('+')).join(' ');

describe('what is sent of a form', () => {
  test.each([
    ['24', 'daily', undefined],
    ['168', 'weekly', undefined],
    ['12', 'weekly', 12],
  ])('turns of %s hours are %s with %s shift hours', (hours, rotationType, shiftHours) => {
    const input = rotationInput({ ...draft, hours });
    expect([input.rotationType, input.rotationConfig.shiftHours]).toEqual([rotationType, shiftHours]);
  });
});

test('the beginning of the first turn says from when on somebody is on call, and when turns change next', () => {
  const now = Date.parse('2026-03-04T12:00:00Z');
  const weekly = { ...draft, timezone: 'Europe/Amsterdam', hours: '168' };
  const text = (changes: Partial<typeof draft>) => beginningText({ ...weekly, ...changes }, now);
  expect(text({ handOverAt: '2026-03-02T09:00' })).toMatch(/^Has begun: .* until Mon.*9.*09:00/);
  expect(text({ handOverAt: '2026-02-23T09:00' })).toMatch(/^Has begun: .* until Mon.*9.*09:00/);
  expect(text({ handOverAt: '2026-03-04T09:00', hours: '12' })).toMatch(/until Wed.*4.*21:00/);
  expect(text({ handOverAt: '2026-03-04T13:01' })).toBe('Nobody is on call before.');
  expect(text({ handOverAt: '2026-03-02T13:00', hours: '24' })).toMatch(/until Thu.*5.*13:00/);
  expect(text({ hours: 'x' })).toBe('');
});

describe('the order of people', () => {
  test('is moved by one place, and not over its ends', () => {
    expect(people(withTurnMoved(turns, 0, 1))).toBe('bram anna cleo');
    expect(people(withTurnMoved(turns, 0, -1))).toBe('anna bram cleo');
    expect(people(withTurnMoved(turns, 2, 1))).toBe('anna bram cleo');
  });

  test('may have somebody twice', () => {
    const twice = withPersonIn(turns, 'anna', false);
    expect(people(twice)).toBe('anna bram cleo anna');
    expect(new Set(twice.map(({ key }) => key)).size).toBe(4);
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
