import { expect, test } from 'vitest';

import { recordedErrors } from '#infra/bench/grouping/labelled_event.ts';
import { groupEvent } from '#modules/exceptions/decide/grouping.ts';

test('each mistake of a program is one group in two builds by real compilers, and no group has two', () => {
  const labelled = recordedErrors().map(({ label, event }) => ({ label, key: groupEvent(event).key }));
  const labels = new Set(labelled.map(({ label }) => label));
  expect(labelled).toHaveLength(2 * labels.size);
  expect(labels.size).toBe(23);
  expect(new Set(labelled.map(({ key }) => key)).size).toBe(labels.size);
  expect(new Set(labelled.map(({ label, key }) => `${label} ${key}`)).size).toBe(labels.size);
});
