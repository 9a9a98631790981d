import { Button } from '@mantine/core';
import { IconUsersGroup } from '@tabler/icons-react';

import { signOut } from '#console/api/session.ts';
import { addressOf } from '#console/api/http.ts';
import { EmptyState } from '#console/components/empty_state.tsx';

/** For somebody who was removed from the last organization that they belonged to. */
export function NoOrganization() {
  const leave = () => void signOut().finally(() => location.assign(addressOf('login')));
  return (
    <main>
      <EmptyState
        icon={<IconUsersGroup size={24} />}
        title="You belong to no organization"
        actions={
          <Button variant="default" onClick={leave}>
            Log out
          </Button>
        }
      >
        You are signed in, but no organization has you as a member. Ask an owner or admin to invite you, then open the
        link in the mail.
      </EmptyState>
    </main>
  );
}
