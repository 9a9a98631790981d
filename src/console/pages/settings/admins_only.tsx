import { IconLock } from '@tabler/icons-react';

import { EmptyState } from '#console/components/empty_state.tsx';

/** For who came here by an address that was given to them. */
export function AdminsOnly({ what }: { readonly what: string }) {
  return (
    <EmptyState icon={<IconLock size={24} />} title="For owners and admins">
      {what} is shown to owners and admins of the organization. Ask one of them, or to be made one.
    </EmptyState>
  );
}
