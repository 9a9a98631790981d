import { useInfiniteQuery } from '@tanstack/react-query';
import { fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';

import { pagedQuery } from '#console/api/actions.ts';
import { LoadMore } from '#console/components/lists/load_more.tsx';
import { renderInConsole, serve } from '#test/console/in_console.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

function List() {
  const query = pagedQuery('org_1', 'exceptions', 'list_exception_activity', { groupId: 'group_1' });
  return <LoadMore list={useInfiniteQuery({ ...query, retry: false })} />;
}

test('a further page that cannot be loaded says why beside its button', async () => {
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      observe(): void {}
      disconnect(): void {}
    },
  );
  serve((_action, { cursor }) => {
    if (cursor !== undefined) throw new TypeError('fetch failed');
    return { entries: [], nextCursor: 'next' };
  });
  await renderInConsole(<List />);
  fireEvent.click(await screen.findByRole('button', { name: 'Show more' }, PATIENTLY));
  const alert = await screen.findByRole('alert', {}, PATIENTLY);
  expect(alert.textContent).toContain('The server did not answer.');
  expect(screen.getByRole('button', { name: 'Show more' })).toBeDefined();
});
