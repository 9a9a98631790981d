// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, fireEvent, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { AddToDashboard } from '#console/pages/explore/add_to_dashboard.tsx';
import { renderInRouter } from '#test/console/in_router.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

vi.mock('#console/shell/organization.tsx', () => ({
  useOrganization: () => ({ org: { orgId: 'org_1' }, session: { user: { userId: 'user_1' } }, may: () => true }),
  useRefresh: () => async () => {},
}));

let created = Promise.withResolvers<unknown>();

beforeEach(() => {
  created = Promise.withResolvers();
  vi.stubGlobal('matchMedia', () => ({ matches: false, addEventListener: () => {}, removeEventListener: () => {} }));
  vi.stubGlobal('fetch', async (url: string, { body }: { body?: string } = {}) => {
    if (url.includes('create_dashboard')) created.resolve(JSON.parse(body ?? '{}'));
    return Response.json({ result: { dashboards: [], total: 0, nextCursor: null, dashboardId: 'dashboard_1' } });
  });
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test('who chooses a new dashboard types its name over the usual one, or presses Enter to keep it', async () => {
  await renderInRouter(
    () => (
      <MantineProvider env="test">
        <QueryClientProvider client={new QueryClient()}>
          <AddToDashboard search={{ metric: 'queue_depth' }} shown={null} onClose={() => {}} />
        </QueryClientProvider>
      </MantineProvider>
    ),
    ['/dashboards/$dashboardId'],
  );
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
