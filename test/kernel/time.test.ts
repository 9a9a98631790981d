import fc from '#test/kit/properties.ts';
import { expect, test } from 'vitest';

import { Temporal, toTimestamp } from '#kernel/time.ts';

test('a timestamp is what Temporal writes with three digits of a second', () => {
  const nanoseconds = fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n });
  fc.assert(
    fc.property(nanoseconds, (sinceEpoch) => {
      const instant = Temporal.Instant.fromEpochNanoseconds(sinceEpoch);
      expect(toTimestamp(instant)).toBe(instant.toString({ fractionalSecondDigits: 3 }));
    }),
  );
});
