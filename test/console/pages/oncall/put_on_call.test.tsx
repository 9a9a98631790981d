// @vitest-environment happy-dom
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';

import { PutOnCall } from '#console/pages/oncall/override/put_on_call.tsx';
import { renderInConsole, serve } from '#test/console/in_console.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

async function open(): Promise<void> {
  const schedules = ['Payments', 'Search'].map((name) => ({ scheduleId: `schedule_${name}`, name }));
  serve(() => ({ members: [], total: 0, found: [], nextCursor: null }));
  await renderInConsole(<PutOnCall userId={null} schedules={schedules} scheduleCount={300} onClose={() => {}} />);
}

test('the picker of schedules says how many there are beside those of the page, before anything is typed', async () => {
  await open();
  const field = await screen.findByRole('combobox', { name: 'Schedule' }, PATIENTLY);
  act(() => void fireEvent.click(field));
  expect(screen.getAllByRole('option').map(({ textContent }) => textContent)).toEqual([
    expect.stringContaining('Payments'),
    expect.stringContaining('Search'),
    '298 more: type part of a name',
  ]);
});

test('one press puts somebody on call from 18:00 to 08:00', async () => {
  await open();
  const tonight = await screen.findByRole('button', { name: 'Tonight, 18:00 to 08:00' }, PATIENTLY);
  act(() => void fireEvent.click(tonight));
  expect(screen.getByRole<HTMLInputElement>('textbox', { name: 'Until' }).value).toMatch(/08:00$/);
});
