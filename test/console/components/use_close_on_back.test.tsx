// @vitest-environment happy-dom
import { expect, test, vi } from 'vitest';

import { useCloseOnBack } from '#console/components/use_close_on_back.ts';
import { renderInConsole } from '#test/console/in_console.tsx';

function Opened({ isOpen, close }: { readonly isOpen: boolean; readonly close: () => void }) {
  useCloseOnBack(isOpen, close);
  return null;
}

/** Shows the dialog at `/`, and returns what the router asks before it follows a change of the address. */
async function show(isOpen: boolean) {
  const { router, rerender } = await renderInConsole(null);
  const block = vi.spyOn(router.history, 'block');
  const close = vi.fn<() => void>();
  rerender(<Opened isOpen={isOpen} close={close} />);
  const isStopped = async (action: 'BACK' | 'PUSH' | 'REPLACE', pathname = '/') => {
    const currentLocation = { ...router.history.location, pathname };
    return await block.mock.lastCall?.[0].blockerFn({ action, currentLocation, nextLocation: currentLocation });
  };
  return { isStopped, close };
}

test('Back closes an open dialog and stays on the page; a link leaves it', async () => {
  const { isStopped, close } = await show(true);
  expect([await isStopped('PUSH'), await isStopped('REPLACE'), close.mock.calls.length]).toEqual([false, false, 0]);
  expect([await isStopped('BACK'), close.mock.calls.length]).toEqual([true, 1]);
});

test('Back goes back from the page that a link of the dialog has opened, also while it is not shown yet', async () => {
  const { isStopped, close } = await show(true);
  expect([await isStopped('BACK', '/after'), close.mock.calls.length]).toEqual([false, 0]);
});

test('Back leaves the page when no dialog is open', async () => {
  const { isStopped } = await show(false);
  expect(await isStopped('BACK')).toBeUndefined();
});
