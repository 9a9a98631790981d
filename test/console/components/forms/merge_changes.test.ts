import fc from '#test/kit/properties.ts';
import { expect, test } from 'vitest';

import { fittingValues, mergeChanges } from '#console/components/forms/merge_changes.ts';

const values = fc.record({
  name: fc.constantFrom('a', 'b', 'c'),
  days: fc.integer({ min: 1, max: 3 }),
  on: fc.boolean(),
});

test('nothing that anybody changed is lost, and only what both changed differently is a conflict', () => {
  fc.assert(
    fc.property(values, values, values, (base, mine, theirs) => {
      const merged = mergeChanges(base, mine, theirs);
      const inConflict = new Set<string>(merged.conflicts.map(({ field }) => field));
      for (const field of ['name', 'days', 'on'] as const) {
        const iChanged = mine[field] !== base[field];
        const theyChanged = theirs[field] !== base[field];
        expect(inConflict.has(field)).toBe(iChanged && theyChanged && mine[field] !== theirs[field]);
        expect(merged.values[field]).toBe(iChanged ? mine[field] : theirs[field]);
      }
    }),
  );
});

test('merging once more changes nothing', () => {
  fc.assert(
    fc.property(values, values, values, (base, mine, theirs) => {
      const once = mergeChanges(base, mine, theirs);
      expect(mergeChanges(once.base, once.values, theirs)).toEqual(once);
    }),
  );
});

test('of a stored draft, the fields that the form still has with the same type are used', () => {
  const form = { name: '', days: 1, userIds: ['a'], phone: null };
  expect(fittingValues(form, { name: 'x', days: '2', userIds: {}, phone: '+31', gone: true })).toEqual({
    name: 'x',
    phone: '+31',
  });
});
