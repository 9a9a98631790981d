import { Type } from 'typebox';

import { defineJob } from '#kernel/job.ts';

/** The alarm clock of one timer. The row decides: a job that is early, late or doubled does nothing. */
export const runEscalationStep = defineJob({
  name: 'run_escalation_step',
  queue: 'paging',
  payload: Type.Object({
    incidentId: Type.String(),
    stepIndex: Type.Integer({ minimum: 0 }),
    /** Brought forward: a second alarm clock beside the one that is set for the step's own time. */
    isExpedited: Type.Optional(Type.Boolean()),
  }),
  key: ({ incidentId, stepIndex, isExpedited }) => `${incidentId}-${stepIndex}${isExpedited === true ? '-now' : ''}`,
  attempts: 8,
  backoff: { firstDelayMs: 500, maxDelayMs: 30_000 },
});
