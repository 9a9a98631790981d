import { Button } from '@mantine/core';
import { IconUsersGroup } from '@tabler/icons-react';

import { leave } from '#console/api/session.ts';
import { EmptyState } from '#console/components/lists/empty_state.tsx';

/** Page for somebody who was removed from their last organization. */
export function NoOrganization() {
  return (
    <main>
      <EmptyState
        icon={<IconUsersGroup size={24} />}
        title="You are not in an organization"
        actions={
          <Button variant="default" onClick={() => void leave()}>
            Log out
          </Button>
        }
      >
        You are logged in, but you are not a member of any organization. Ask an owner or admin to invite you, then open
        the link in the mail.
      </EmptyState>
    </main>
  );
}
