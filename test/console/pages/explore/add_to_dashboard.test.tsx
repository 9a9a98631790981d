// @vitest-environment happy-dom
import { act, fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';

import { AddToDashboard } from '#console/pages/explore/add_to_dashboard.tsx';
import { renderInConsole, serve } from '#test/console/in_console.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

test('who chooses a new dashboard types its name over the usual one, or presses Enter to keep it', async () => {
  const created = Promise.withResolvers<unknown>();
  serve((action, input) => {
    if (action === 'create_dashboard') created.resolve(input);
    return { dashboards: [], total: 0, nextCursor: null, dashboardId: 'dashboard_1' };
  });
  await renderInConsole(<AddToDashboard search={{ metric: 'queue_depth' }} shown={null} onClose={() => {}} />, {
    paths: ['/dashboards/$dashboardId'],
  });
  const field = await screen.findByRole('combobox', { name: 'Dashboard' }, PATIENTLY);
  act(() => void fireEvent.click(field));
  act(() => void fireEvent.click(screen.getByRole('option', { name: 'A new dashboard' })));
  const name = screen.getByRole<HTMLInputElement>('textbox', { name: 'Name of the dashboard' });
  expect(document.activeElement).toBe(name);
  expect(name.value).toBe('queue_depth');
  expect([name.selectionStart, name.selectionEnd]).toEqual([0, name.value.length]);
  act(() => void fireEvent.submit(name.form!));
  expect(await created.promise).toMatchObject({ name: 'queue_depth' });
});
