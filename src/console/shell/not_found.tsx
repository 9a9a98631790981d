import { Button } from '@mantine/core';
import { IconMapOff } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';

import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { Page } from '#console/components/page.tsx';

/** Page for unknown addresses outside the shell, without navigation around it. */
export function NotFoundPage() {
  return (
    <main>
      <NotFound />
    </main>
  );
}

export function NotFound() {
  return (
    <Page title="Page not found">
      <EmptyState
        icon={<IconMapOff size={24} />}
        title="There is no page at this address"
        actions={
          <Button component={Link} to="/">
            Home
          </Button>
        }
      >
        The address may be misspelt, or the page was deleted.
      </EmptyState>
    </Page>
  );
}
