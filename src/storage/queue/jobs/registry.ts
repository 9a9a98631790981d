import { announceStatusUpdate } from '#storage/queue/jobs/announce_status_update.ts';
import { assembleBundle } from '#storage/queue/jobs/assemble_bundle.ts';
import { deliverPage } from '#storage/queue/jobs/deliver_page.ts';
import { groupExceptions } from '#storage/queue/jobs/group_exceptions.ts';
import { purgeService } from '#storage/queue/jobs/purge_service.ts';
import { recordFailedSignIn } from '#storage/queue/jobs/record_failed_sign_in.ts';
import { runEscalationStep } from '#storage/queue/jobs/run_escalation_step.ts';
import { sendAuditStreamFailing } from '#storage/queue/jobs/send_audit_stream_failing.ts';
import { sendDeactivationNotice } from '#storage/queue/jobs/send_deactivation_notice.ts';
import { sendDutyNotice } from '#storage/queue/jobs/send_duty_notice.ts';
import { sendExceptionNotice } from '#storage/queue/jobs/send_exception_notice.ts';
import { sendInvitation } from '#storage/queue/jobs/send_invitation.ts';
import { sendNumberRequest } from '#storage/queue/jobs/send_number_request.ts';
import { sendPasswordReset } from '#storage/queue/jobs/send_password_reset.ts';
import { sendPlaceOff } from '#storage/queue/jobs/send_place_off.ts';
import { sendStatusConfirmation } from '#storage/queue/jobs/send_status_confirmation.ts';
import { sendStatusUpdate } from '#storage/queue/jobs/send_status_update.ts';
import { sendUnreadableNotice } from '#storage/queue/jobs/send_unreadable_notice.ts';
import { storePoints } from '#storage/queue/jobs/store_points.ts';
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
  sendDeactivationNotice,
  sendDutyNotice,
  sendExceptionNotice,
  sendPlaceOff,
  sendAuditStreamFailing,
  sendNumberRequest,
  sendStatusConfirmation,
  announceStatusUpdate,
  sendStatusUpdate,
  sendUnreadableNotice,
];

const BY_NAME = new Map(JOBS.map((job) => [job.name, job]));

export function findJob(name: string): JobContract | null {
  return BY_NAME.get(name) ?? null;
}
