import { Text } from '@mantine/core';

import { STATUS_NAMES } from '#console/pages/exceptions/group_status.tsx';
import type { GroupStatus } from '#modules/exceptions/decide/group_status.ts';

/** Consequences that people have to know before they merge. */
export function MergeConsequences({ status }: { readonly status: GroupStatus }) {
  return (
    <Text size="sm" c="dimmed">
      Counts and events are those of all from now on, and the status is <b>{STATUS_NAMES[status].toLowerCase()}</b> for
      all. New events of any of them come here and do not count as new exceptions. Nothing is lost: each can be split
      off again, with its own events.
    </Text>
  );
}
