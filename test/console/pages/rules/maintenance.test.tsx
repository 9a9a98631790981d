import { act, fireEvent, screen, within } from '@testing-library/react';
import { expect, test } from 'vitest';

import { SaveSearchDialog } from '#console/pages/exceptions/search/save_search_dialog.tsx';
import { Maintenance } from '#console/pages/rules/maintenance.tsx';
import { renderInConsole, serve } from '#test/console/in_console.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

const WINDOW = {
  maintenanceId: 'maintenance_1',
  name: 'Database upgrade',
  startsAt: '2026-01-01T10:00:00.000Z',
  endsAt: '2126-01-01T10:00:00.000Z',
  next: { startsAt: '2026-01-01T10:00:00.000Z', endsAt: '2126-01-01T10:00:00.000Z' },
  isActive: true,
  label: null,
  ruleId: null,
  targetName: 'checkout',
  recurrence: null,
  timezone: null,
};

const SEARCH = { searchId: 'search_1', name: 'Mine', isShared: true, isOwn: true, ownerName: null, filter: {} };

test.each([
  ['End now', 'End now', 'delete_maintenance', <Maintenance key="maintenance" onClose={() => {}} />],
  ['Delete Mine', 'Delete', 'delete_saved_search', <SaveSearchDialog key="searches" filter={{}} onClose={() => {}} />],
])('“%s” asks before it does what cannot be undone', async (label, button, action, dialog) => {
  const { promise: done, resolve: isDone } = Promise.withResolvers<void>();
  const asked = serve((called) => {
    if (called === action) isDone();
    return { windows: [WINDOW], searches: [SEARCH] };
  });
  const actions = () => asked.map((call) => call.action);
  await renderInConsole(dialog);
  fireEvent.click(await screen.findByRole('button', { name: label }, PATIENTLY));
  const question = (await screen.findByText(/This cannot be undone/, {}, PATIENTLY)).closest('form')!;
  expect(actions()).not.toContain(action);
  fireEvent.click(within(question).getByRole('button', { name: button }));
  await act(() => done);
  expect(actions()).not.toContain('save_search');
});
