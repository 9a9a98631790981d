import type { EscalationStep } from '#modules/policies/decide/escalation.ts';

/**
 * Returns new steps, given by the contract's fields alone, with what the stored ones say beyond: each keeps what the step
 * at its place says. Null when that cannot be told: there are more or fewer steps, or one no longer asks the schedules.
 */
export function keepDetails(
  stored: readonly EscalationStep[],
  sent: readonly EscalationStep[],
): readonly EscalationStep[] | null {
  if (!stored.some(saysMore)) return sent;
  if (stored.length !== sent.length) return null;
  const kept = sent.map((step, index) => ({ ...stored[index], ...step }));
  const isLost = kept.some((step, index) => {
    const before = stored[index];
    return before !== undefined && saysMore(before) && before.useSchedule !== step.useSchedule;
  });
  return isLost ? null : kept;
}

/** Whether a step says anything beyond the contract's fields. */
function saysMore({ afterMinutes: _, channels: __, targetUserIds: ___, useSchedule: ____, ...more }: EscalationStep) {
  return Object.keys(more).length > 0;
}
