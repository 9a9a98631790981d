/**
 * Contracts of background work: name, queue, payload, key, attempts. Payloads carry ids, not copies; the handler
 * (`workers/`) re-reads and decides again, so a job may be lost, doubled or late. Names never change and a new field is
 * optional, because old jobs are still queued during an update. Where an older handler would do the wrong thing with a
 * new payload, raise `version`: its process then leaves the job to a newer one, as it does with a job that it does not
 * know.
 */
import { Type } from 'typebox';

import { defineDurableJob, defineJob, type JobContract } from '#kernel/job.ts';

/** Attempts over the next minutes. */
const FOR_MINUTES = { attempts: 8, backoff: { firstDelayMs: 1_000, maxDelayMs: 60_000 } };

/** Mails an owner which stored rows of the organization cannot be read. */
export const sendUnreadableNotice = defineJob({
  name: 'send_unreadable_notice',
  queue: 'upkeep',
  payload: Type.Object({ orgId: Type.String(), userId: Type.String() }),
  key: ({ orgId, userId }) => `${orgId}:${userId}`,
  ...FOR_MINUTES,
});

export const sendStatusUpdate = defineJob({
  name: 'send_status_update',
  queue: 'upkeep',
  payload: Type.Object({ updateId: Type.String(), subscriberId: Type.String() }),
  key: ({ updateId, subscriberId }) => `${updateId}:${subscriberId}`,
  yields: true,
  attempts: 6,
  backoff: { firstDelayMs: 1_000, maxDelayMs: 60_000 },
});

/** Makes the mails of an update on a status page, some subscribers at a time: those behind `after`. */
export const announceStatusUpdate = defineJob({
  name: 'announce_status_update',
  queue: 'upkeep',
  payload: Type.Object({ updateId: Type.String(), after: Type.Optional(Type.String()) }),
  key: ({ updateId, after = '' }) => `${updateId}:${after}`,
  ...FOR_MINUTES,
});

/** Mails the owner of an address whether they want updates of a status page. */
export const sendStatusConfirmation = defineJob({
  name: 'send_status_confirmation',
  queue: 'upkeep',
  payload: Type.Object({ subscriberId: Type.String() }),
  key: ({ subscriberId }) => subscriberId,
  attempts: 4,
  backoff: { firstDelayMs: 1_000, maxDelayMs: 60_000 },
});

/** Mails a person of a campaign that their number has to be confirmed, and a test received. */
export const sendNumberRequest = defineJob({
  name: 'send_number_request',
  queue: 'upkeep',
  payload: Type.Object({ orgId: Type.String(), userId: Type.String() }),
  key: ({ orgId, userId }) => `${orgId}:${userId}`,
  ...FOR_MINUTES,
});

/** Mails an owner that a stream of the audit log has failed for a day. */
export const sendAuditStreamFailing = defineJob({
  name: 'send_audit_stream_failing',
  queue: 'upkeep',
  payload: Type.Object({ auditStreamId: Type.String(), userId: Type.String() }),
  key: ({ auditStreamId, userId }) => `${auditStreamId}:${userId}`,
  ...FOR_MINUTES,
});

/** Mails an owner that a place was switched off after a day of failures. */
export const sendPlaceOff = defineJob({
  name: 'send_place_off',
  queue: 'upkeep',
  payload: Type.Object({ placeId: Type.String(), userId: Type.String() }),
  key: ({ placeId, userId }) => `${placeId}:${userId}`,
  ...FOR_MINUTES,
});

/** Mails a person what has happened to an exception that they asked to hear about: an entry of its history. */
export const sendExceptionNotice = defineJob({
  name: 'send_exception_notice',
  queue: 'upkeep',
  payload: Type.Object({
    orgId: Type.String(),
    groupId: Type.String(),
    activityId: Type.String(),
    userId: Type.String(),
  }),
  key: ({ activityId, userId }) => `${activityId}:${userId}`,
  ...FOR_MINUTES,
});

/** Tells a person that somebody else has put them on call, or taken a shift from them, or that a shift of theirs begins soon. */
export const sendDutyNotice = defineJob({
  name: 'send_duty_notice',
  queue: 'upkeep',
  payload: Type.Object({
    orgId: Type.String(),
    userId: Type.String(),
    /** Person who changed it; null for a key of the organization. */
    byUserId: Type.Union([Type.String(), Type.Null()]),
    changes: Type.Array(
      Type.Object({ scheduleId: Type.String(), isOnCall: Type.Boolean(), since: Type.String(), until: Type.String() }),
    ),
    /** Names the change: of its retries only one is mailed. */
    changeId: Type.String(),
    /** The shifts begin as planned; absent: they were changed. */
    isReminder: Type.Optional(Type.Literal(true)),
    /** Goes to the person's browsers; absent: by mail. */
    byPush: Type.Optional(Type.Literal(true)),
  }),
  key: ({ changeId, userId, byPush = false }) => `${changeId}:${userId}:${byPush ? 'push' : 'mail'}`,
  ...FOR_MINUTES,
});

/**
 * Mails owners, admins and teams that schedules name a person whom the identity provider has deactivated, or that
 * schedules or policies page one to whom it has given a role that may not answer.
 */
export const sendDeactivationNotice = defineJob({
  name: 'send_deactivation_notice',
  queue: 'upkeep',
  payload: Type.Object({ orgId: Type.String(), userId: Type.String(), noticeId: Type.String() }),
  key: ({ userId, noticeId }) => `${userId}:${noticeId}`,
  ...FOR_MINUTES,
});

/** Mails the link of an invitation. The link is encrypted: the contents of a queue are not secret. */
export const sendInvitation = defineJob({
  name: 'send_invitation',
  queue: 'upkeep',
  payload: Type.Object({ invitationId: Type.String(), orgId: Type.String(), sealedLink: Type.String() }),
  key: ({ invitationId }) => invitationId,
  ...FOR_MINUTES,
});

/**
 * Mails a link to set a new password, if there is such an account. It runs as a job so that the answer takes the same
 * time for every address. A repetition mails another link.
 */
export const sendPasswordReset = defineJob({
  name: 'send_password_reset',
  queue: 'upkeep',
  payload: Type.Object({
    email: Type.String(),
    requestId: Type.String(),
    address: Type.Union([Type.String(), Type.Null()]),
  }),
  key: ({ requestId }) => requestId,
  attempts: 5,
  backoff: { firstDelayMs: 1_000, maxDelayMs: 60_000 },
});

/** Takes the source maps out of what a build has uploaded; does nothing for a bundle that has been read. */
export const assembleBundle = defineJob({
  name: 'assemble_bundle',
  queue: 'uploads',
  payload: Type.Object({ orgId: Type.String(), bundleId: Type.String() }),
  key: ({ bundleId }) => bundleId,
  attempts: 5,
  backoff: { firstDelayMs: 1_000, maxDelayMs: 60_000 },
});

/** Removes what is left of a deleted service from every store; safe to run again after a crash half-way. */
export const purgeService = defineJob({
  name: 'purge_service',
  queue: 'upkeep',
  payload: Type.Object({ serviceId: Type.String() }),
  key: ({ serviceId }) => serviceId,
  attempts: 10,
  backoff: { firstDelayMs: 1_000, maxDelayMs: 300_000 },
});

/** Sends one entry of the notification log. The row decides whether it is still to be sent. */
export const deliverPage = defineJob({
  name: 'deliver_page',
  queue: 'paging',
  payload: Type.Object({ notificationId: Type.String() }),
  key: ({ notificationId }) => notificationId,
  attempts: 8,
  backoff: { firstDelayMs: 500, maxDelayMs: 30_000 },
});

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

/**
 * Records a sign-in with a wrong password in the audit log, if there is such an account. It runs as a job so that the
 * answer takes the same time for an unknown account.
 */
export const recordFailedSignIn = defineJob({
  name: 'record_failed_sign_in',
  queue: 'upkeep',
  payload: Type.Object({
    email: Type.String(),
    requestId: Type.String(),
    address: Type.Union([Type.String(), Type.Null()]),
  }),
  key: ({ requestId }) => requestId,
  attempts: 5,
  backoff: { firstDelayMs: 1_000, maxDelayMs: 60_000 },
});

/**
 * Brings accepted events into their groups and into ClickHouse. The job is the data's only home until it has run, so it is
 * kept, and tried for weeks rather than given up. Its bytes are what `packEvents` makes.
 */
export const groupExceptions = defineDurableJob({
  name: 'group_exceptions',
  queue: 'ingest',
  attempts: 200_000,
  backoff: { firstDelayMs: 500, maxDelayMs: 10_000 },
});

/**
 * Brings accepted points into ClickHouse. The job is the data's only home until it has run, so it is kept, and tried for
 * weeks rather than given up. Its bytes are what `packPoints` makes.
 */
export const storePoints = defineDurableJob({
  name: 'store_points',
  queue: 'ingest',
  attempts: 200_000,
  backoff: { firstDelayMs: 500, maxDelayMs: 10_000 },
});

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
