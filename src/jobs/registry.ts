import { assembleBundle } from '#jobs/assemble_bundle.ts';
import { deliverPage } from '#jobs/deliver_page.ts';
import { groupExceptions } from '#jobs/group_exceptions.ts';
import { purgeService } from '#jobs/purge_service.ts';
import { recordFailedSignIn } from '#jobs/record_failed_sign_in.ts';
import { runEscalationStep } from '#jobs/run_escalation_step.ts';
import { sendInvitation } from '#jobs/send_invitation.ts';
import { sendPasswordReset } from '#jobs/send_password_reset.ts';
import { storePoints } from '#jobs/store_points.ts';
import type { JobContract } from '#kernel/job.ts';

/** Every kind of background work. */
export const JOBS: readonly JobContract[] = [
  storePoints,
  groupExceptions,
  recordFailedSignIn,
  runEscalationStep,
  deliverPage,
  purgeService,
  assembleBundle,
  sendPasswordReset,
  sendInvitation,
];

const BY_NAME = new Map(JOBS.map((job) => [job.name, job]));

export function findJob(name: string): JobContract | null {
  return BY_NAME.get(name) ?? null;
}
