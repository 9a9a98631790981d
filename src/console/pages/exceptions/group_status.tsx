import type { GroupStatus } from '#console/api/exceptions.ts';
import { Status, type Tone } from '#console/components/status.tsx';

const TONES: Record<GroupStatus, Tone> = { unresolved: 'red', resolved: 'green', ignored: 'gray' };

export const STATUS_NAMES: Record<GroupStatus, string> = {
  unresolved: 'Unresolved',
  resolved: 'Resolved',
  ignored: 'Ignored',
};

export function GroupStatusBadge({ status }: { readonly status: GroupStatus }) {
  return <Status tone={TONES[status]}>{STATUS_NAMES[status]}</Status>;
}
