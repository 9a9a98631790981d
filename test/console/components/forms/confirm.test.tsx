// @vitest-environment happy-dom
import { fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';

import { Confirm } from '#console/components/forms/confirm.tsx';
import { renderInConsole } from '#test/console/in_console.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

async function show(name?: string) {
  const onConfirm = vi.fn<() => void>();
  await renderInConsole(
    <Confirm
      title="Delete it?"
      button="Delete"
      saving={{ isPending: false, error: null }}

      onConfirm={onConfirm}
      onClose={() => {}}
      {...(name !== undefined && { name })}
    >
      This cannot be undone.
    </Confirm>,
  );
  const button = await screen.findByRole<HTMLButtonElement>('button', { name: 'Delete' }, PATIENTLY);
  return { onConfirm, button, form: button.closest('form')! };
}

test('a change is confirmed by its button', async () => {
  const { onConfirm, button, form } = await show();
  expect(button.disabled).toBe(false);
  fireEvent.submit(form);
  expect(onConfirm).toHaveBeenCalledOnce();
});

test('a dangerous change needs the name, and Enter does not get around it', async () => {
  const { onConfirm, button, form } = await show('checkout');
  fireEvent.submit(form);
  expect([button.disabled, onConfirm.mock.calls.length]).toEqual([true, 0]);
  fireEvent.change(screen.getByRole('textbox'), { target: { value: ' checkout ' } });
  fireEvent.submit(form);
  expect([button.disabled, onConfirm.mock.calls.length]).toEqual([false, 1]);
});
