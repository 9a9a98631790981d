import type { Incident } from '#console/api/actions.ts';

/** The state of an escalation in a few words. `step 2 of 3` is the step that fires next. */
export function stepText({ escalation: { state, nextStep, stepCount } }: Pick<Incident, 'escalation'>): string {
  switch (state) {
    case 'none':
      return 'pages nobody';
    case 'paused':
      return 'paused';
    case 'finished':
      return 'no steps left';
    case 'running':
      return `step ${(nextStep ?? 0) + 1} of ${stepCount}`;
  }
}
