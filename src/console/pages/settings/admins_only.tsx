import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { IconLock } from '#console/icons.ts';

/** Empty state for members who open a page for admins by its address. */
export function AdminsOnly({ what }: { readonly what: string }) {
  return (
    <EmptyState icon={<IconLock size={24} />} title="For owners and admins">
      {what} is shown only to owners and admins of the organization. Ask one of them for access.
    </EmptyState>
  );
}
