import { expect, test } from 'vitest';

import { findRisen, lowered } from '#infra/checks/count/limits.ts';
import { hangingComments } from '#infra/checks/count/measure.ts';

const LIMITS = { lines: [{ max: 10, why: 'first count' }], files: [{ max: 3, why: 'first count' }] };

test('what rose above its last limit is named, and so is a large folder that is new', () => {
  expect(findRisen({ lines: 10, files: 2 }, LIMITS)).toEqual([]);
  expect(findRisen({ lines: 11, files: 3 }, LIMITS)).toEqual(['lines: 11, at most 10']);
  const raised = { ...LIMITS, lines: [...LIMITS.lines, { max: 12, why: 'a new protocol' }] };
  expect(findRisen({ lines: 11, files: 3 }, raised)).toEqual([]);
  expect(findRisen({ 'entries of src/x': 41 }, LIMITS)).toEqual([
    'entries of src/x: 41, where there was no such folder; split it',
  ]);
});

test('limits are lowered to what was counted, never raised, and those of what is gone are left out', () => {
  expect(lowered({ lines: 7 }, LIMITS)).toEqual({ lines: [{ max: 7, why: 'first count' }] });
  expect(lowered({ lines: 70 }, LIMITS)).toEqual({ lines: LIMITS.lines });
  expect(lowered({ words: 5 }, LIMITS)).toEqual({ words: [{ max: 5, why: 'first count' }] });
});

test('a doc comment hangs when it begins with a clause instead of a verb or a noun', () => {
  const comments = [
    '/** Of those whom it pages. */',
    '/**\n * Where a list goes on.\n */',
    '/** What is kept. */',
    '/** Returns the contacts. */',
    '/** Offset of a row. */',
    '// Of no account',
  ];
  expect(hangingComments(comments.join('\n'))).toBe(3);
});
