import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { expect, test } from 'vitest';

import { KnownTexts } from '#kernel/string_interner.ts';

const LONG = 1_000_000;

test('a text that is known keeps nothing of the long one from which it was cut', () => {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const known = new KnownTexts();
  const heldBytes = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = heldBytes();
  for (let event = 0; event < 200; event += 1) {
    const whole = JSON.parse(`"${event} ${'x'.repeat(LONG)}"`) as string;
    const part = whole.slice(0, 200);
    known.addIfSame(part, part);
  }
  expect(heldBytes() - before).toBeLessThan(20 * LONG);
  expect(known.has(`199 ${'x'.repeat(196)}`)).toBe(true);
});
