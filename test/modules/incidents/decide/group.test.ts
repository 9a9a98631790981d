import { describe, expect, test } from 'vitest';

import { findParent, type Opening, type PossibleParent } from '#modules/incidents/decide/group.ts';
import { at } from '#test/modules/schedules/decide/given_rotation.ts';
import fc from '#test/kit/properties.ts';

const NOW = at('2026-03-29T00:30:00Z');
const OPENING: Opening = { escalationPolicyId: 'policy', severity: 'error', groupMinutes: 10 };
const PARENT: PossibleParent = {
  id: 'parent',
  escalationPolicyId: 'policy',
  severity: 'error',
  triggeredAt: NOW.subtract({ minutes: 5 }),
  status: 'triggered',
  steps: 1,
  isBound: false,
};

const parentOf = (changes: Partial<PossibleParent>, opening: Partial<Opening> = {}): string | null =>
  findParent([{ ...PARENT, ...changes }], { ...OPENING, ...opening }, NOW)?.id ?? null;

describe('an incident pages for another one', () => {
  test.each<[string, Partial<PossibleParent>, Partial<Opening>]>([
    ['that pages the same people as soon', {}, {}],
    ['that somebody has acknowledged', { status: 'acknowledged' }, {}],
    ['that is more severe', { severity: 'fatal' }, {}],
    ['opened as long ago as the rule lets', { triggeredAt: NOW.subtract({ minutes: 10 }) }, {}],
  ])('%s', (_what, parent, opening) => {
    expect(parentOf(parent, opening)).toBe('parent');
  });
});

describe('an incident pages by itself, since the other one', () => {
  test.each<[string, Partial<PossibleParent>, Partial<Opening>]>([
    ['is resolved', { status: 'resolved' }, {}],
    ['waits, follows another or stands for others', { isBound: true }, {}],
    ['pages nobody', { steps: 0 }, {}],
    ['pages other people', { escalationPolicyId: 'other' }, {}],
    ['has no policy, as this one', { escalationPolicyId: null }, { escalationPolicyId: null }],
    ['is less severe', { severity: 'warning' }, {}],
    ['was opened too long ago', { triggeredAt: NOW.subtract({ minutes: 10, milliseconds: 1 }) }, {}],
    ['is of a rule that does not group', { triggeredAt: NOW }, { groupMinutes: 0 }],
  ])('%s', (_what, parent, opening) => {
    expect(parentOf(parent, opening)).toBeNull();
  });
});

test('the oldest of those that may page for it does, and no other', () => {
  const parent = fc.record({
    id: fc.uuid(),
    escalationPolicyId: fc.constantFrom('policy', 'other', null),
    severity: fc.constantFrom('warning', 'error', 'fatal'),
    triggeredAt: fc.integer({ min: 0, max: 20 * 60 }).map((seconds) => NOW.subtract({ seconds })),
    status: fc.constantFrom('triggered' as const, 'acknowledged' as const, 'resolved' as const),
    steps: fc.integer({ min: 0, max: 2 }),
    isBound: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(parent, { maxLength: 8 }), (open) => {
      const found = findParent(open, OPENING, NOW);
      const alone = open.filter((one) => findParent([one], OPENING, NOW) !== null);
      const oldest = Math.min(...alone.map(({ triggeredAt }) => triggeredAt.epochMilliseconds));
      expect(found?.triggeredAt.epochMilliseconds ?? Infinity).toBe(oldest);
      expect(found === null || alone.includes(found)).toBe(true);
    }),
  );
});
