import type { Incident } from '#console/api/actions.ts';

/** Where an escalation stands in a few words: `step 2 of 3` is the one that fires next. */
export function stepText({ escalation: { state, nextStep, stepCount } }: Pick<Incident, 'escalation'>): string {
  switch (state) {
    case 'none':
      return 'pages nobody';
    case 'paused':
      return 'paused';
    case 'finished':
      return 'no step left';
    case 'running':
      return `step ${(nextStep ?? 0) + 1} of ${stepCount}`;
  }
}
