import { expect, test } from 'vitest';

import { refusalText } from '#console/pages/services/refusal_text.ts';

test.each([
  [{ kind: 'points', reason: 'too_many_series', count: 1_204 }, '1,204 points refused: too many new series in a day'],
  [{ kind: 'events', reason: 'too_large', count: 1 }, '1 event refused: larger than 1 MiB'],
  [
    { kind: 'events', reason: 'rate_limited', count: 1 },
    '1 request with events refused: over the rate limit of the service',
  ],
  [{ kind: 'points', reason: 'internal', count: 2 }, '2 requests with points refused: internal error'],
  [
    { kind: 'points', reason: 'not_found', count: 2 },
    '2 requests refused: sent to an address that takes nothing, such as those for logs and traces; the sender got the right one',
  ],
] as const)('%j is told as %j', (refusal, text) => expect(refusalText(refusal)).toBe(text));
