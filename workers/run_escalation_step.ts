import { type EscalationRuntime, fireStep } from '#modules/incidents/paging/fire_step.ts';
import { runEscalationStep } from '#storage/queue/jobs/run_escalation_step.ts';
import { asId } from '#kernel/ids.ts';
import { handleJob, type JobHandler } from '#storage/queue/job_workers.ts';
import { runWhenDue } from '#workers/run_when_due.ts';

export const onRunEscalationStep = (runtime: EscalationRuntime): JobHandler =>
  handleJob(runEscalationStep, async ({ incidentId, stepIndex }) => {
    await runWhenDue(runtime.clock, () => fireStep(runtime, asId('incident', incidentId), stepIndex));
  });
