import type { Incident, IncidentWithLog } from '#console/api/actions.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';

/**
 * Returns the state of an escalation in a few words. `step 2 of 3` is the step that fires next; after a hand-over or a
 * repetition the steps of the policy and those of the incident have different numbers.
 */
export function stepText({
  escalation: { state, nextStep, waitsFor, stepCount, firstStep },
}: Pick<Incident, 'escalation'>): string {
  switch (state) {
    case 'none':
      return 'pages nobody';
    case 'paused':
      return 'paused';
    case 'finished':
      return 'no steps left';
    case 'running':
      if (waitsFor === 'incident') return 'another one pages for it';
      if (waitsFor === 'maintenance') return 'in maintenance, pages';
      if (waitsFor === 'hours') return 'outside its hours, pages';
      return firstStep > 0 ? 'next page' : `step ${(nextStep ?? 0) + 1} of ${stepCount}`;
  }
}

type PlannedStep = Pick<
  IncidentWithLog['escalation']['steps'][number],
  'targetUserIds' | 'useSchedule' | 'scheduleIds' | 'turn' | 'members' | 'ofPolicyId'
>;

/** Returns the people paged by a step that has not fired yet. */
export function whoText(
  step: PlannedStep,
  /** The team whose schedules are used; null when it was deleted. */
  team: string | null,
  nameOf: (userId: string) => string,
): string {
  const { targetUserIds, useSchedule, scheduleIds, turn, members, ofPolicyId } = step;
  const people = turn === 'next' ? 'the next on call' : 'the people on call';
  const isOwn = team !== null && ofPolicyId === undefined;
  const within = scheduleIds === undefined ? '' : ' in some schedules';
  const onCall = isOwn ? `${people}${within} in ${isolateBidi(team)}` : `${people}${within}`;
  const paged = members?.inTurn ? 'one member of a team in turn' : 'all members of a team';
  const planned = [
    ...targetUserIds.map(nameOf),
    ...(useSchedule ? [onCall] : []),
    ...(members === undefined ? [] : [paged]),
  ];
  return planned.length === 0 ? 'nobody' : planned.join(', ');
}

type Escalation = IncidentWithLog['escalation'];

/** Returns whom the next step pages, as what follows the time until then; null if no step is to come. */
export function untilText(
  { steps, nextStep, waitsFor }: Pick<Escalation, 'steps' | 'nextStep' | 'waitsFor'>,
  team: string | null,
  nameOf: (userId: string) => string,
): string | null {
  const step = steps.find(({ index }) => index === nextStep);
  if (step === undefined) return null;
  const waits =
    waitsFor === 'maintenance'
      ? ', after the maintenance'
      : waitsFor === 'hours'
        ? ', when the hours of its policy begin'
        : '';
  return `until it pages ${whoText(step, team, nameOf)}${waits}`;
}

/** Returns whom a hand-over has paged; null while the incident is where it began, or after a repetition. */
export function handedOverText(
  { escalation: { steps, firstStep }, timeline }: Pick<IncidentWithLog, 'escalation' | 'timeline'>,
  team: string | null,
  nameOf: (userId: string) => string,
): string | null {
  const step = steps.find(({ index }) => index === firstStep);
  if (firstStep === 0 || step === undefined) return null;
  if (!timeline.some(({ event, at }) => event === 'reassigned' && at === step.countsFrom)) return null;
  return `Handed over: it ${step.state === 'pending' ? 'pages' : 'has paged'} ${whoText(step, team, nameOf)}.`;
}

/** Whether it was handed over to people other than this one, who is then not asked to answer it. */
export function isWithOthers({ steps, firstStep }: Escalation, userId: string): boolean {
  const step = steps.find(({ index }) => index === firstStep);
  if (firstStep === 0 || step === undefined || step.useSchedule || step.members !== undefined) return false;
  return step.targetUserIds.length > 0 && !step.targetUserIds.includes(userId);
}
