import type { GroupStatus } from '#console/api/exceptions.ts';
import { Status, type Tone } from '#console/components/status.tsx';

const TONES: Record<GroupStatus, Tone> = { unresolved: 'red', resolved: 'green', ignored: 'gray' };

export const STATUS_NAMES: Record<GroupStatus, string> = {
  unresolved: 'Unresolved',
  resolved: 'Resolved',
  ignored: 'Ignored',
};

interface GroupStatusBadgeProps {
  readonly status: GroupStatus;
  /** Whether it is ignored only for a while. */
  readonly isSnoozed?: boolean;
}

export function GroupStatusBadge({ status, isSnoozed = false }: GroupStatusBadgeProps) {
  return <Status tone={TONES[status]}>{isSnoozed ? 'Snoozed' : STATUS_NAMES[status]}</Status>;
}
