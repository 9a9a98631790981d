// @vitest-environment happy-dom
import { renderHook } from '@testing-library/react';
import { expect, test, vi } from 'vitest';

import { useCloseOnBack } from '#console/components/use_close_on_back.ts';

interface Blocker {
  readonly disabled: boolean;
  shouldBlockFn(change: { action: string; current: { pathname: string } }): boolean;
}

const blocker = vi.hoisted(() => ({ current: null as unknown as Blocker }));
vi.mock('@tanstack/react-router', () => ({
  useBlocker: (options: Blocker) => (blocker.current = options),
  useRouter: () => ({ state: { location: { pathname: '/exceptions/group_1' } } }),
}));

test('Back closes an open dialog and stays on the page; a link leaves it', () => {
  const close = vi.fn<() => void>();
  renderHook(() => useCloseOnBack(true, close));
  const isStopped = (action: string) =>
    blocker.current.shouldBlockFn({ action, current: { pathname: '/exceptions/group_1' } });
  expect([isStopped('PUSH'), isStopped('REPLACE'), close.mock.calls.length]).toEqual([false, false, 0]);
  expect([isStopped('BACK'), close.mock.calls.length]).toEqual([true, 1]);
});

test('Back goes back from the page that a link of the dialog has opened, also while it is not shown yet', () => {
  const close = vi.fn<() => void>();
  renderHook(() => useCloseOnBack(true, close));
  const change = { action: 'BACK', current: { pathname: '/exceptions' } };
  expect([blocker.current.shouldBlockFn(change), close.mock.calls.length]).toEqual([false, 0]);
});

test('Back leaves the page when no dialog is open', () => {
  renderHook(() => useCloseOnBack(false, () => {}));
  expect(blocker.current.disabled).toBe(true);
});
