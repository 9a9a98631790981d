// @vitest-environment happy-dom
import { act, fireEvent, screen } from '@testing-library/react';
import { useState } from 'react';
import { expect, test, vi } from 'vitest';

import { Dialog } from '#console/components/dialog.tsx';
import { CopyField } from '#console/components/forms/copy_field.tsx';
import { CancelButton, Form } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { renderInConsole } from '#test/console/in_console.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

const press = async (name: string) => fireEvent.click(await screen.findByRole('button', { name }, PATIENTLY));
const type = async (label: string) =>
  fireEvent.input(await screen.findByLabelText(label, {}, PATIENTLY), { target: { value: 'xoxb-1' } });
const answer = async (name: string) => {
  await press(name);
  await act(async () => {});
};

async function show(content: React.ReactNode) {
  return await renderInConsole(content, { paths: ['/elsewhere'] });
}

test.each(['Cancel', 'Escape', 'a link'])(
  '%s drops what was typed into a dialog only after a question',
  async (way) => {
    const onClose = vi.fn<() => void>();
    const { router } = await show(
      <FormDialog
        title="Add a place"
        saving={{ isPending: false, error: null }}
        submit="Add"
        onSubmit={() => {}}
        onClose={onClose}
      >
        <input aria-label="Token" />
      </FormDialog>,
    );
    const leave = async (): Promise<void> => {
      if (way === 'Cancel') await press('Cancel');
      if (way === 'Escape') fireEvent.keyDown(await screen.findByLabelText('Token'), { key: 'Escape' });
      if (way === 'a link') void router.navigate({ to: '/elsewhere' } as never);
    };
    await type('Token');
    await leave();
    await answer('Keep editing');
    expect([onClose.mock.calls.length, router.state.location.pathname]).toEqual([0, '/']);
    await leave();
    await answer('Drop it');
    if (way === 'a link') await screen.findByText('/elsewhere', {}, PATIENTLY);
    expect([onClose.mock.calls.length, router.state.location.pathname]).toEqual(
      way === 'a link' ? [0, '/elsewhere'] : [1, '/'],
    );
  },
);

test('what a draft keeps is dropped by Cancel only after a question, and left by a link without one', async () => {
  const onCancel = vi.fn<() => void>();
  const discard = vi.fn<() => void>();
  const draft = { conflicts: [], isChanged: true, isStored: true, discard };
  const { router } = await show(
    <Form error={null} draft={draft} onSubmit={() => {}}>
      <CancelButton onCancel={onCancel} />
    </Form>,
  );
  await press('Cancel');
  await answer('Keep editing');
  expect([onCancel.mock.calls.length, discard.mock.calls.length]).toEqual([0, 0]);
  await press('Cancel');
  await answer('Drop it');
  expect([onCancel.mock.calls.length, discard.mock.calls.length]).toEqual([1, 1]);
  await act(() => router.navigate({ to: '/elsewhere' } as never));
  expect(router.state.location.pathname).toBe('/elsewhere');
});

test('a form that was sent is left without a question, one that was refused is not', async () => {
  const error = new Error('the server did not answer');
  function Sent({ isRefused }: { readonly isRefused: boolean }) {
    const [failed, setFailed] = useState<Error | null>(null);
    return (
      <Form error={failed} onSubmit={() => isRefused && setFailed(error)}>
        <input aria-label="PIN" />
        <button type="submit">Save</button>
      </Form>
    );
  }
  for (const isRefused of [false, true]) {
    const { router, unmount } = await show(<Sent isRefused={isRefused} />);
    await type('PIN');
    await press('Save');
    void router.navigate({ to: '/elsewhere' } as never);
    if (isRefused) await answer('Drop it');
    expect(await screen.findByText('/elsewhere', {}, PATIENTLY)).toBeTruthy();
    expect(router.state.location.pathname).toBe('/elsewhere');
    unmount();
  }
});

test('what is shown only once is left without a question once it was copied', async () => {
  const { router } = await show(
    <Dialog title="The key is created" onClose={() => {}} isShownOnce>
      <CopyField label="API key" value="tocsin_key" isShownOnce />
    </Dialog>,
  );
  await screen.findByText('tocsin_key', {}, PATIENTLY);
  void router.navigate({ to: '/elsewhere' } as never);
  await answer('Keep it open');
  expect(router.state.location.pathname).toBe('/');
  await press('Copy API key');
  await act(() => router.navigate({ to: '/elsewhere' } as never));
  expect(router.state.location.pathname).toBe('/elsewhere');
});
