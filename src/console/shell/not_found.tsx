import { Button } from '@mantine/core';
import { IconMapOff } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';

import { EmptyState } from '#console/components/empty_state.tsx';
import { Page } from '#console/components/page.tsx';

/** Where nothing surrounds it. */
export function NotFoundPage() {
  return (
    <main>
      <NotFound />
    </main>
  );
}

export function NotFound() {
  return (
    <Page title="Nothing is here">
      <EmptyState
        icon={<IconMapOff size={24} />}
        title="This address leads nowhere"
        actions={
          <Button component={Link} to="/">
            Home
          </Button>
        }
      >
        It may be misspelt, or what it named was deleted.
      </EmptyState>
    </Page>
  );
}
