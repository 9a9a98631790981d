// @vitest-environment happy-dom
import { act, fireEvent, screen } from '@testing-library/react';
import { beforeEach, expect, test, vi } from 'vitest';

import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { Form as FormFrame, SubmitButtons } from '#console/components/forms/form.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import { renderInConsole } from '#test/console/in_console.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

interface Facts {
  name: string;
  environment: string;
  pin: string;
}

const LABELS = { name: 'Name', environment: 'Environment', pin: 'PIN' };
const STORED: Facts = { name: 'checkout', environment: 'production', pin: '' };
const onSend = vi.fn<(values: Facts) => void>();

function Form({ base = STORED }: { readonly base?: Facts }) {
  const { form, draft } = useDraftForm<Facts>({ form: 'update_service 1', base, secrets: ['pin'] });
  return (
    <FormFrame
      error={null}
      draft={draft}
      onSubmit={form.onSubmit((values) => {
        onSend(values);
        draft.done();
      })}
    >
      <DraftNotice draft={draft} labels={LABELS} />
      {(['name', 'environment', 'pin'] as const).map((field) => (
        <input key={field} aria-label={LABELS[field]} {...form.getInputProps(field)} />
      ))}
      <SubmitButtons label="Save" isPending={false} isDisabled={!form.isDirty()} onCancel={() => {}} />
    </FormFrame>
  );
}

const view = (base?: Facts) => <Form {...(base !== undefined && { base })} />;
const open = (base?: Facts) => renderInConsole(view(base));
const type = (label: string, value: string) => act(() => void fireEvent.change(field(label), { target: { value } }));
const field = (label: string) => screen.getByLabelText<HTMLInputElement>(label);
const press = (name: string) => act(() => void fireEvent.click(screen.getByRole('button', { name })));

beforeEach(() => onSend.mockClear());

test('what was entered is there again after the page was closed, but no secret', async () => {
  const { unmount } = await open();
  type('Name', 'billing');
  type('PIN', '1234');
  unmount();
  await open();
  expect([field('Name').value, field('PIN').value]).toEqual(['billing', '']);
  expect(screen.getByText(/^This continues what you entered/)).toBeDefined();
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Save' }).disabled).toBe(false);
  press('Start over');
  expect(field('Name').value).toBe('checkout');
  expect(localStorage).toHaveLength(0);
});

test('nothing is stored while nothing differs, or after the server has accepted it', async () => {
  const { unmount } = await open();
  type('Name', 'billing');
  type('Name', 'checkout');
  expect(localStorage).toHaveLength(0);
  type('Name', 'billing');
  expect(localStorage).toHaveLength(1);
  press('Save');
  expect(onSend).toHaveBeenCalledWith({ ...STORED, name: 'billing' });
  expect(localStorage).toHaveLength(0);
  unmount();
});

test('an accepted value stays while the new data is on its way, and follows it then', async () => {
  const { rerender } = await open();
  type('Name', ' billing ');
  press('Save');
  expect(field('Name').value).toBe(' billing ');
  rerender(view({ ...STORED, name: 'billing' }));
  expect(field('Name').value).toBe('billing');
  expect(screen.queryByRole('alert')).toBeNull();
});

test("another person's change is taken over where it touches no change of one's own", async () => {
  const { rerender } = await open();
  type('Name', 'billing');
  rerender(view({ ...STORED, environment: 'staging' }));
  expect([field('Name').value, field('Environment').value]).toEqual(['billing', 'staging']);
  expect(screen.queryByRole('alert')).toBeNull();
});

test('when both changed the same field, both versions are shown and the person chooses, also after a reload', async () => {
  const first = await open();
  type('Name', 'billing');
  first.rerender(view({ ...STORED, name: 'payments' }));
  first.unmount();

  const { rerender } = await open({ ...STORED, name: 'payments' });
  expect((await screen.findByRole('alert', {}, PATIENTLY)).textContent).toContain('billing');
  expect(screen.getByRole('alert').textContent).toContain('payments');
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Save' }).disabled).toBe(true);
  press('Name: keep yours');
  expect(screen.queryByRole('alert')).toBeNull();
  expect(field('Name').value).toBe('billing');

  rerender(view({ ...STORED, name: 'invoices' }));
  press('Name: take theirs');
  expect(field('Name').value).toBe('invoices');
  expect(localStorage).toHaveLength(0);
});

test('Cancel drops the draft, and what "Start over" drops can be had again, but no secret', async () => {
  const { rerender } = await open();
  const close = () => rerender(null);
  const reopen = (): void => {
    close();
    rerender(view());
  };
  type('Name', 'billing');
  type('PIN', '1234');
  reopen();
  press('Start over');
  expect(localStorage).toHaveLength(0);
  press('Undo');
  expect(field('Name').value).toBe('billing');
  reopen();
  press('Start over');
  close();
  press('Undo');
  rerender(view());
  expect([field('Name').value, field('PIN').value]).toEqual(['billing', '']);
  press('Cancel');
  fireEvent.click(await screen.findByRole('button', { name: 'Drop it' }, PATIENTLY));
  await act(async () => {});
  expect([localStorage.length, screen.queryByRole('button', { name: 'Undo' })]).toEqual([0, null]);
});
