import { act, cleanup, render } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { useNow } from '#console/components/text/timestamp.tsx';

const renders: Record<string, number> = {};

function Clock({ name, everySeconds }: { readonly name: string; readonly everySeconds: number }) {
  useNow(everySeconds);
  renders[name] = (renders[name] ?? 0) + 1;
  return null;
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

test('all clocks share one timer, which stops with the last of them, and are drawn as often as they ask', () => {
  const { unmount } = render(
    <>
      <Clock name="fast" everySeconds={1} />
      <Clock name="slow" everySeconds={5} />
    </>,
  );
  expect(vi.getTimerCount()).toBe(1);
  for (let second = 0; second < 10; second += 1) act(() => void vi.advanceTimersByTime(1_000));
  expect(renders).toEqual({ fast: 11, slow: 3 });
  unmount();
  expect(vi.getTimerCount()).toBe(0);
});
