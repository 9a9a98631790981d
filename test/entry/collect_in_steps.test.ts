import { afterEach, expect, test, vi } from 'vitest';

import { collectInSteps } from '#entry/foundation.ts';

afterEach(() => vi.unstubAllGlobals());

test('a machine on which no memory can be reserved goes on without', () => {
  // eslint-disable-next-line prefer-arrow-callback -- it is called with `new`
  const reserve = vi.fn<() => void>(function reserve() {
    throw new RangeError('Array buffer allocation failed');
  });
  vi.stubGlobal('ArrayBuffer', reserve);
  expect(collectInSteps).not.toThrow();
  expect(reserve).toHaveBeenCalledOnce();
});
