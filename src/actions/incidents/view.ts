import { type Static, Type } from 'typebox';

import { IdText, nullable, Timestamp } from '#actions/fields.ts';
import { type EscalationState, escalationStateOf, type StepState } from '#core/incidents/escalation_state.ts';
import { INCIDENT_STATUSES, RULE_KINDS } from '#core/incidents/incident.ts';
import { storyOf } from '#core/incidents/story.ts';
import { CHANNELS } from '#core/oncall/channel.ts';
import { maskAddress } from '#core/oncall/masking.ts';
import { NOTIFICATION_STATUSES } from '#core/oncall/recipients.ts';
import { VIAS } from '#kernel/caller.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { IncidentRow, TimelineRow } from '#storage/postgres/incident_store.ts';
import type { NotificationRow } from '#storage/postgres/notification_store.ts';

const SettledByView = Type.Object(
  {
    userId: Type.Optional(IdText),
    apiKeyId: Type.Optional(IdText),
    system: Type.Optional(Type.Literal(true)),
    via: Type.Enum([...VIAS]),
  },
  { description: 'exactly one of userId, apiKeyId and system is present' },
);

const INCIDENT_FIELDS = {
  incidentId: IdText,
  number: Type.Integer({ description: 'what is typed in a reply by SMS' }),
  status: Type.Enum([...INCIDENT_STATUSES]),
  title: Type.String(),
  kind: Type.Enum([...RULE_KINDS]),
  serviceId: IdText,
  ruleId: nullable(IdText),
  exceptionGroupId: nullable(IdText),
  escalationPolicyId: nullable(IdText),
  severity: Type.String(),
  details: Type.Object({}, { additionalProperties: true, description: 'what was measured' }),
  occurrences: Type.Integer(),
  triggeredAt: Timestamp,
  acknowledgedAt: nullable(Timestamp),
  acknowledgedBy: nullable(SettledByView),
  resolvedAt: nullable(Timestamp),
  resolvedBy: nullable(SettledByView),
  escalation: Type.Object({
    state: Type.Enum(['running', 'paused', 'finished', 'none']),
    nextStep: nullable(Type.Integer({ description: 'index of the step, from 0' })),
    nextStepAt: nullable(Timestamp),
  }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
};

export const IncidentView = Type.Object(INCIDENT_FIELDS);

const NotificationView = Type.Object({
  notificationId: IdText,
  at: Timestamp,
  step: nullable(Type.Integer({ description: 'index of the step, from 0; null for news about the incident' })),
  userId: IdText,
  channel: Type.Enum([...CHANNELS]),
  to: nullable(Type.String({ description: 'masked; null for push' })),
  status: Type.Enum([...NOTIFICATION_STATUSES]),
  reason: nullable(Type.String()),
  attempts: Type.Integer(),
  providerId: nullable(Type.String()),
  updatedAt: Timestamp,
});

export const IncidentWithLogView = Type.Object({
  ...INCIDENT_FIELDS,
  notifications: Type.Array(NotificationView, { description: 'the notification log, oldest first' }),
  timeline: Type.Array(Type.Object({ at: Timestamp, event: Type.String(), text: Type.String() }), {
    description: 'what happened, oldest first, as sentences',
  }),
});

export function toIncidentView(incident: IncidentRow, steps: readonly StepState[]): Static<typeof IncidentView> {
  return {
    incidentId: incident.id,
    number: incident.number,
    status: incident.status,
    title: incident.title,
    kind: incident.kind,
    serviceId: incident.serviceId,
    ruleId: incident.ruleId,
    exceptionGroupId: incident.exceptionGroupId,
    escalationPolicyId: incident.escalationPolicyId,
    severity: incident.severity,
    details: incident.details,
    occurrences: incident.occurrences,
    triggeredAt: toTimestamp(incident.triggeredAt),
    acknowledgedAt: toTimestampOrNull(incident.acknowledgedAt),
    acknowledgedBy: incident.acknowledgedBy,
    resolvedAt: toTimestampOrNull(incident.resolvedAt),
    resolvedBy: incident.resolvedBy,
    escalation: toEscalationView(escalationStateOf(incident.status, steps)),
    createdAt: toTimestamp(incident.createdAt),
    updatedAt: toTimestamp(incident.updatedAt),
  };
}

function toEscalationView(escalation: EscalationState): Static<typeof IncidentView>['escalation'] {
  return { ...escalation, nextStepAt: toTimestampOrNull(escalation.nextStepAt) };
}

export function toNotificationView(entry: NotificationRow): Static<typeof NotificationView> {
  return {
    notificationId: entry.id,
    at: toTimestamp(entry.createdAt),
    step: entry.stepIndex,
    userId: entry.userId,
    channel: entry.channel,
    to: maskAddress(entry.channel, entry.address),
    status: entry.status === 'sending' ? 'queued' : entry.status,
    reason: entry.reason ?? entry.news,
    attempts: entry.attempts,
    providerId: entry.providerId,
    updatedAt: toTimestamp(entry.updatedAt),
  };
}

export function toTimelineView(
  timeline: readonly TimelineRow[],
  names: ReadonlyMap<string, string>,
): Static<typeof IncidentWithLogView>['timeline'] {
  return timeline.map(({ at, event, data }) => ({ at: toTimestamp(at), event, text: storyOf(event, data, names) }));
}
