import { type TSchema, Type } from 'typebox';

export { StrictObject } from '#kernel/action.ts';

import { METRIC_NAME_LENGTH_MAX } from '#modules/metrics/decide/limits.ts';

/** An identifier: any text is well-formed, and one that names nothing is `not_found`. */
export const IdText = Type.String();

/*
 * The contract gives minima only. These maxima are generous for people and programs that mean well, and keep one call
 * from storing, and every later list from returning, more than anybody reads.
 */
const NAME_LENGTH_MAX = 500;
const TEXT_LENGTH_MAX = 4_000;
/** Limit on the people named by one field. */
export const USERS_MAX = 1_000;

/** A name: at least one character, and not only white space. */
export const Name = Type.String({
  minLength: 1,
  maxLength: NAME_LENGTH_MAX,
  pattern: '\\S',
  description: 'a name that is not blank',
});

/** A label such as an environment or a repository. */
export const FreeText = Type.String({ maxLength: TEXT_LENGTH_MAX });

/** A text on one line, without white space at its ends. */
const ONE_LINE = { minLength: 1, pattern: String.raw`^\S(?:[^\n\r\t]*\S)?$` };

/** Name of a release, as clients send it. */
export const ReleaseName = Type.String({ ...ONE_LINE, maxLength: 200 });

export const EnvironmentName = Type.String({ ...ONE_LINE, maxLength: 64 });

/** A metric's name, with a label selector where one is allowed. */
export const MetricName = Type.String({ maxLength: METRIC_NAME_LENGTH_MAX });

/** Key that the caller chooses for one request: the same request that arrives twice is carried out once. */
export const RequestKey = Type.String({ minLength: 8, maxLength: 64, pattern: '^[A-Za-z0-9_-]+$' });

/** RFC 3339 in UTC with milliseconds, in results. */
export const Timestamp = Type.String({ format: 'date-time' });

/** Allows null besides `schema`; in bodies only where the contract says "or null". */
export function nullable<Schema extends TSchema>(schema: Schema) {
  return Type.Union([schema, Type.Null()]);
}

/** Integer within the contract's range: 2^53-1 either way. */
export const SafeInteger = Type.Integer({ minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER });

/** The ids that examples use: those of the reference and those of the console's operations. */
export const EXAMPLE_IDS = {
  serviceId: 'service_01k9z8e4rnf7ktv2x5m6w0abqd',
  dashboardId: 'dashboard_01k9z8f1c2e3taz9v4n7h8s5rm',
  groupId: 'group_01kdwm3y8pfqa9b6t2x0c4v7zs',
  activityId: 'activity_01kdwm4c2d3e4f5g6h7j8k9m0n',
  searchId: 'search_01kdwm4c2d3e4f5g6h7j8k9m0p',
  otherGroupId: 'group_01kdwm3y9qgrb0c7v3y1d5w8at',
  teamId: 'team_01k9z8g5m6f0rbn3w8d2y7k4qe',
  memberId: 'member_01k9z8gq7he1stp5x0a4v9c6nd',
  userId: 'user_01k9z7a2b3c4d5e6f7g8h9jkmn',
  otherUserId: 'user_01k9z7b8c9d0e1f2g3h4j5k6mn',
  scheduleId: 'schedule_01k9z8h3j4k5m6n7p8q9r0s1tv',
  overrideId: 'override_01kdp2w5x6y7z8a9b0c1d2e3fg',
  policyId: 'policy_01k9z8j6k7m8n9p0q1r2s3t4vw',
  ruleId: 'rule_01k9z8k9m0n1p2q3r4s5t6v7wx',
  incidentId: 'incident_01kdwm4a1b2c3d4e5f6g7h8j9k',
  noteId: 'note_01kdwm4c2d3e4f5g6h7j8k9m0n',
  proposalId: 'proposal_01kdwm4d2e3f4g5h6j7k8m9n0p',
  notificationId: 'notification_01kdwm4b2c3d4e5f6g7h8j9k0m',
  apiKeyId: 'apikey_01k9z8ka1b2c3d4e5f6g7h8jkm',
  invitationId: 'invitation_01k9z8kb2c3d4e5f6g7h8j9kmn',
  connectionId: 'connection_01k9z8kc3d4e5f6g7h8j9kamnp',
  subscriptionId: 'subscription_01k9z8kd4e5f6g7h8j9kambnpq',
  monitorId: 'monitor_01kdwm4a1b2c3d4e5f6g7h8j9m',
  alertSourceId: 'alertsource_01kdwm4a1b2c3d4e5f6g7h8j9n',
  trackerId: 'tracker_01kdwm4a1b2c3d4e5f6g7h8j9p',
  placeId: 'place_01kdwm4a1b2c3d4e5f6g7h8j9p',
  deliveryId: 'delivery_01kdwm4a1b2c3d4e5f6g7h8j9q',
  chatAccountId: 'chataccount_01kdwm4a1b2c3d4e5f6g7h8j9r',
  statusPageId: 'statuspage_01kdwm4a1b2c3d4e5f6g7h8j9q',
  publicationId: 'publication_01kdwm4a1b2c3d4e5f6g7h8j9q',
  auditStreamId: 'auditstream_01kdwm4a1b2c3d4e5f6g7h8j9q',
  moveInId: 'movein_01kdwm4a1b2c3d4e5f6g7h8j9q',
  maintenanceId: 'maintenance_01kdwm4a1b2c3d4e5f6g7h8j9m',
  calendarId: 'calendar_01k9z8g5m6f0rbn3w8d2y7k4qf',
  provisionedGroupId: 'scimgroup_01kdwm4a1b2c3d4e5f6g7h8j9q',
  sessionId: 'session_01k9z8e4rnf7ktv2x5m6w0abqd',
  periodId: 'period_01k9z8e9s0t1v2w3x4y5z6a7bc',
} as const;

export const EXAMPLE_PEOPLE = {
  anna: { userId: EXAMPLE_IDS.userId, name: 'Anna de Vries', email: 'anna@northwind.example' },
  bram: { userId: EXAMPLE_IDS.otherUserId, name: 'Bram Jansen', email: 'bram@northwind.example' },
} as const;

/** Creation times for the objects of the examples, which have not been changed since. */
export const EXAMPLE_STAMPS = { createdAt: '2027-01-04T09:12:30.184Z', updatedAt: '2027-01-04T09:12:30.184Z' };
