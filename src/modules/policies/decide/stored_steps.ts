import { CHANNELS } from '#modules/contacts/decide/channel.ts';
import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import { findFaults } from '#kernel/input_faults.ts';

const STEP = {
  type: 'object',
  properties: {
    afterMinutes: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    channels: { type: 'array', items: { enum: CHANNELS } },
    targetUserIds: { type: 'array', items: { type: 'string' } },
    useSchedule: { type: 'boolean' },
  },
  required: ['afterMinutes', 'channels', 'targetUserIds', 'useSchedule'],
};
const STEPS = { type: 'array', items: STEP };

/** Steps in place of those that cannot be read: they page whoever is on call in the team, at once by every channel. */
const IN_PLACE: readonly EscalationStep[] = [
  { afterMinutes: 0, channels: CHANNELS, targetUserIds: [], useSchedule: true },
];

/** Returns the steps of a policy as it is stored, whoever wrote it. */
export function readSteps(stored: unknown): readonly EscalationStep[] {
  return areSteps(stored) ? stored : IN_PLACE;
}

/** Whether stored steps can be read. */
export function areSteps(stored: unknown): stored is readonly EscalationStep[] {
  return findFaults(STEPS, stored).length === 0;
}
