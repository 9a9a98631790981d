import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import type { Fault } from '#kernel/errors.ts';

import { findCycle, type FindPolicy, type PolicyPlan, RUN_STEPS_MAX } from '#modules/policies/decide/run.ts';

/** Number of steps of a policy with those of the policies that its steps stand for; counts no further than the limit. */
function countSteps(policy: PolicyPlan, find: FindPolicy, path: readonly string[]): number {
  let count = 0;
  for (const { policyId } of policy.steps) {
    if (count > RUN_STEPS_MAX) return count;
    const other = policyId === undefined || path.includes(policyId) ? undefined : find(policyId);
    count += other === undefined ? 1 : countSteps(other, find, [...path, other.id]);
  }
  return count;
}

/** Returns what is wrong with a policy by itself: fields that say nothing together, and hours that never come. */
export function findFaultsOf({ steps, details }: Pick<PolicyPlan, 'steps' | 'details'>): Fault[] {
  return [
    ...steps.flatMap((step, index) => faultsOfStep(step, index)),
    ...(details?.hours?.windows.some(({ days }) => days.length > 0) === false
      ? [{ path: 'hours.windows', message: 'never come: choose at least one day with a time' }]
      : []),
  ];
}

function faultsOfStep(step: EscalationStep, index: number): Fault[] {
  const path = `steps[${index}]`;
  const { useSchedule, scheduleIds, turn, members, policyId, targetUserIds, needsEverybody } = step;
  const faults: Fault[] = [];
  const says = (field: string, message: string) => faults.push({ path: `${path}.${field}`, message });
  if (!useSchedule && scheduleIds !== undefined)
    says('scheduleIds', 'need useSchedule: without it no schedule is asked');
  if (!useSchedule && turn !== undefined) says('turn', 'needs useSchedule: without it no schedule is asked');
  if (members?.inTurn && index > 0) says('members', 'take turns in the first step only; page the whole team here');
  if (policyId !== undefined) {
    const others = targetUserIds.length > 0 || useSchedule || members !== undefined || needsEverybody !== undefined;
    if (others) says('policyId', 'stands for the steps of that policy: leave out whom else this step would page');
  }
  return faults;
}

/**
 * Returns what is wrong with a policy among others: a policy that leads back to it, and more steps than an incident
 * runs. `find` knows all that it names, and itself as it is to be.
 */
export function findFaultsAmong(policy: PolicyPlan, find: FindPolicy): Fault[] {
  const cycle = findCycle(policy, find);
  if (cycle !== null) {
    const names = cycle.map((id) => `"${id === policy.id ? policy.name : (find(id)?.name ?? '')}"`);
    const [, second] = cycle;
    const index = policy.steps.findIndex(({ policyId }) => policyId === second);
    const path = index === -1 ? 'hours.outside' : `steps[${index}].policyId`;
    return [{ path, message: `leads back to this policy: ${names.join(', then ')}; choose another policy` }];
  }
  const count = countSteps(policy, find, [policy.id]);
  if (count <= RUN_STEPS_MAX) return [];
  const message = `are more than ${RUN_STEPS_MAX} with those of the policies that they stand for; leave some out`;
  return [{ path: 'steps', message }];
}
