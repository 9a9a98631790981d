import { QueryClient } from '@tanstack/react-query';
import { act, screen } from '@testing-library/react';
import { expect, test } from 'vitest';

import { IncidentsWidget, MonitorsWidget } from '#console/pages/dashboards/other_widgets.tsx';
import { renderInConsole, serve } from '#test/console/in_console.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

test('what has loaded stays when it cannot be loaded again', async () => {
  let isDown = false;
  serve((action) => {
    if (isDown) throw new TypeError('fetch failed');
    return action === 'search_incidents' ? { incidents: [], nextCursor: null } : { monitors: [] };
  });
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const widgets = () => (
    <>
      <IncidentsWidget serviceId={null} />
      <MonitorsWidget serviceId="service_1" />
    </>
  );
  const { rerender } = await renderInConsole(widgets(), { client });
  await screen.findByText('No open incidents.', {}, PATIENTLY);
  await screen.findByText('No scheduled job has checked in.', {}, PATIENTLY);
  isDown = true;
  await act(() => client.refetchQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' }));
  rerender(widgets());
  expect(client.getQueryCache().findAll({ predicate: ({ state }) => state.status === 'error' })).not.toEqual([]);
  expect(screen.queryAllByRole('alert')).toEqual([]);
  expect(screen.queryAllByText('No scheduled job has checked in.')).toHaveLength(1);
  expect(screen.queryAllByText('No open incidents.')).toHaveLength(1);
});
