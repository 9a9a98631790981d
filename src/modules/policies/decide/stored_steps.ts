import { CHANNELS } from '#modules/contacts/decide/channel.ts';
import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import { parseTimeZone } from '#modules/schedules/decide/schedule_times.ts';
import { findFaults, objectWith, orNull } from '#kernel/input_faults.ts';
import { PAUSE_MINUTES_MAX, type PolicyDetails, REPEAT_TIMES_MAX } from '#modules/policies/decide/policy_details.ts';

const STEP = objectWith(
  {
    afterMinutes: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
    channels: { type: 'array', items: { enum: CHANNELS } },
    targetUserIds: { type: 'array', items: { type: 'string' } },
    useSchedule: { type: 'boolean' },
    scheduleIds: { type: 'array', items: { type: 'string' } },
    turn: { enum: ['next'] },
    members: objectWith({ teamId: { type: 'string' } }),
    policyId: { type: 'string' },
    needsEverybody: { type: 'boolean' },
  },
  ['afterMinutes', 'channels', 'targetUserIds', 'useSchedule'],
);
const STEPS = { type: 'array', items: STEP };

/** Steps in place of those that cannot be read: they page whoever is on call in the team, at once by every channel. */
const IN_PLACE: readonly EscalationStep[] = [
  { afterMinutes: 0, channels: CHANNELS, targetUserIds: [], useSchedule: true },
];

const TIME = { type: 'string', pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$' };
const WINDOW = objectWith({
  days: { type: 'array', items: { type: 'integer', minimum: 1, maximum: 7 } },
  from: TIME,
  to: TIME,
});
const DETAILS = {
  type: 'object',
  properties: {
    repeat: objectWith({
      times: { type: 'integer', minimum: 1, maximum: REPEAT_TIMES_MAX },
      pauseMinutes: { type: 'integer', minimum: 0, maximum: PAUSE_MINUTES_MAX },
    }),
    hours: objectWith({
      timezone: { type: 'string' },
      windows: { type: 'array', items: WINDOW },
      outside: { anyOf: [{ enum: ['hold'] }, objectWith({ policyId: { type: 'string' } })] },
      exemptFrom: orNull({ type: 'string' }),
    }),
  },
};

/** Returns the details of a policy as they are stored; null for none, and for those that cannot be read. */
export function readDetails(stored: unknown): PolicyDetails | null {
  return areDetails(stored) ? stored : null;
}

function areDetails(stored: unknown): stored is PolicyDetails {
  if (findFaults(DETAILS, stored).length > 0) return false;
  const { hours } = stored as PolicyDetails;
  return hours === undefined || parseTimeZone(hours.timezone, 'timezone').kind === 'ok';
}

/** Returns the steps of a policy as it is stored, whoever wrote it. */
export function readSteps(stored: unknown): readonly EscalationStep[] {
  return areSteps(stored) ? stored : IN_PLACE;
}

export function areSteps(stored: unknown): stored is readonly EscalationStep[] {
  return findFaults(STEPS, stored).length === 0;
}
