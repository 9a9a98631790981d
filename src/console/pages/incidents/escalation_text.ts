import type { Incident } from '#console/api/actions.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';

/** Returns the state of an escalation in a few words. `step 2 of 3` is the step that fires next. */
export function stepText({
  escalation: { state, nextStep, waitsFor, stepCount },
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
      return `step ${(nextStep ?? 0) + 1} of ${stepCount}`;
  }
}

/** Returns the people paged by a step that has not fired yet. */
export function whoText(
  { targetUserIds, useSchedule }: { readonly targetUserIds: readonly string[]; readonly useSchedule: boolean },
  /** The team whose schedules are used; null when it was deleted. */
  team: string | null,
  nameOf: (userId: string) => string,
): string {
  const onCall = team === null ? 'the people on call' : `the people on call in ${isolateBidi(team)}`;
  const planned = [...targetUserIds.map(nameOf), ...(useSchedule ? [onCall] : [])];
  return planned.length === 0 ? 'nobody' : planned.join(', ');
}
