import { expect, test } from 'vitest';

import { initialsOf } from '#console/components/text/person_dot.tsx';

test.each([
  ['Anna', 'AN'],
  ['Bo', 'BO'],
  ['B', ''],
  ['anna bergman', 'AB'],
  ['  Anna  Maria   Bergman ', 'AB'],
  ['', ''],
])('%j has the initials %j', (name, initials) => expect(initialsOf(name)).toBe(initials));
