import { type Static, Type } from 'typebox';

import { ALERTS_SHOWN, AlertView } from '#modules/alerts/view.ts';
import { EXAMPLE_IDS as IDS, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { EvidenceView, EVIDENCE_EXAMPLE } from '#modules/incidents/evidence.ts';
import { NoteView } from '#modules/incidents/notes.ts';
import {
  escalationStateOf,
  type StepState,
  type StepTimerRow,
  toStepRecords,
  WAITS_FOR,
  waitsFor,
} from '#modules/incidents/decide/escalation_state.ts';
import { INCIDENT_STATUSES, SYSTEM_REASONS } from '#modules/incidents/decide/incident.ts';
import { INCIDENT_KINDS } from '#modules/incidents/decide/incident_limit.ts';
import { INCIDENT_STEPS_MAX } from '#modules/incidents/decide/reassignment.ts';
import { CHANNELS } from '#modules/contacts/decide/channel.ts';
import { NOTIFICATION_STATUSES } from '#modules/policies/decide/recipients.ts';
import { VIAS } from '#modules/accounts/decide/caller.ts';
import { firstStepOfRun } from '#modules/policies/decide/escalation.ts';
import { STEP_DETAILS } from '#modules/policies/view.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import type { NotificationRow } from '#modules/notifications/store/notification_row.ts';
import { NotificationView } from '#modules/notifications/view.ts';
import type { StormMember } from '#modules/incidents/store/storm_store.ts';

const IncidentActorView = Type.Object(
  {
    userId: Type.Optional(IdText),
    apiKeyId: Type.Optional(IdText),
    system: Type.Optional(Type.Literal(true)),
    because: Type.Optional(
      Type.Enum([...SYSTEM_REASONS], { description: 'why the system did it, when its cause is not simply gone' }),
    ),
    apiKeyName: Type.Optional(Type.String({ description: 'what the API key was called when it acted' })),
    tool: Type.Optional(Type.String({ description: 'the tool whose alert said so' })),
    clientName: Type.Optional(Type.String({ description: 'what the app was called that the person acted through' })),
    via: Type.Enum([...VIAS]),
    byLink: Type.Optional(
      Type.Literal(true, { description: 'answered on the page that the link of an SMS opens, not by a reply' }),
    ),
  },
  { description: 'exactly one of userId, apiKeyId and system is present' },
);

const ESCALATION_FIELDS = {
  state: Type.Enum(['running', 'paused', 'finished', 'none']),
  nextStep: nullable(Type.Integer({ description: 'index of the step, from 0' })),
  nextStepAt: nullable(Timestamp),
  waitsFor: nullable(
    Type.Enum([...WAITS_FOR], {
      description:
        'what its first page waits for: the end of a maintenance, another incident that pages for both, or the hours of its policy; null for nothing',
    }),
  ),
  stepCount: Type.Integer({ description: 'how many steps it has had, with those that came after the trigger' }),
  firstStep: Type.Integer({
    description: 'index of the first step of the present run: earlier ones came before a hand-over or a repetition',
  }),
};

const INCIDENT_FIELDS = {
  incidentId: IdText,
  number: Type.Integer({ description: 'what is typed in a reply by SMS' }),
  status: Type.Enum([...INCIDENT_STATUSES]),
  title: Type.String(),
  kind: Type.Enum([...INCIDENT_KINDS], {
    description: 'of the rule that opened it; alert: an alert of another tool did; manual: a person did',
  }),
  serviceId: IdText,
  ruleId: nullable(IdText),
  exceptionGroupId: nullable(IdText),
  escalationPolicyId: nullable(IdText),
  severity: Type.String(),
  details: Type.Object({}, { additionalProperties: true, description: 'what was measured' }),
  occurrences: Type.Integer(),
  triggeredAt: Timestamp,
  acknowledgedAt: nullable(Timestamp),
  acknowledgedBy: nullable(IncidentActorView),
  resolvedAt: nullable(Timestamp),
  resolvedBy: nullable(IncidentActorView),
  acknowledgements: Type.Optional(
    Type.Array(Type.Object({ userId: IdText, at: Timestamp }), {
      description: 'who has acknowledged while others still must: the incident stays triggered; absent for nobody',
    }),
  ),
  escalation: Type.Object(ESCALATION_FIELDS),
  commanderId: nullable(Type.String({ description: 'the person who leads the response; null for nobody' })),
  isShadow: Type.Boolean({
    description: 'it was opened in shadow mode: it pages nobody, and its timeline says whom it would',
  }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
};

export const IncidentView = Type.Object(INCIDENT_FIELDS);

export const StatusCountsView = Type.Object(
  { triggered: Type.Integer(), acknowledged: Type.Integer(), resolved: Type.Integer() },
  { description: 'how many incidents there are of each status' },
);

const StepRecordView = Type.Object({
  index: Type.Integer({ description: 'from 0' }),
  afterMinutes: Type.Integer({ description: 'after countsFrom, as the policy said then' }),
  countsFrom: nullable(
    Type.String({
      format: 'date-time',
      description:
        'the trigger, when the incident was reassigned and got this step, or the end of the maintenance that it waited for; null while it waits for another incident',
    }),
  ),
  channels: Type.Array(Type.Enum([...CHANNELS])),
  targetUserIds: Type.Array(IdText),
  useSchedule: Type.Boolean({ description: 'also the people on call in `teamId` when it fires' }),
  ...STEP_DETAILS,
  ofPolicyId: Type.Optional(Type.String({ description: 'the policy that a step went to, and that this one is of' })),
  dueAt: nullable(
    Type.String({
      format: 'date-time',
      description:
        'when it fires or fired; null when time alone never makes it fire: it waits for another incident, or is too far ahead',
    }),
  ),
  waitsFor: nullable(
    Type.Enum([...WAITS_FOR], { description: 'what a pending step waits for, as `escalation.waitsFor`; else null' }),
  ),
  isBroughtForward: Type.Boolean({
    description: 'true when it is due before its time: the step before it reached nobody, or not everybody',
  }),
  state: Type.Enum(['pending', 'fired', 'skipped', 'cancelled'], {
    description: 'skipped: it came due and reached nobody; cancelled: the incident was answered before it came due',
  }),
  settledAt: nullable(Timestamp),
  reason: nullable(
    Type.String({
      description:
        'of a skipped step: why it reached nobody; of a cancelled one: acknowledged, resolved or reassigned; escalated: a person fired it before its time',
    }),
  ),
  people: Type.Array(
    Type.Object({
      userId: IdText,
      status: Type.Enum([...NOTIFICATION_STATUSES]),
      isSimulated: Type.Boolean({ description: 'whether only the phone simulator took any, which reaches nobody' }),
    }),
    { description: 'whom it paged or tried to page, with the best that any of its messages to them has come to' },
  ),
});

const MemberView = Type.Object({
  ruleId: nullable(IdText),
  exceptionGroupId: nullable(IdText),
  title: Type.String(),
  severity: Type.String(),
  occurrences: Type.Integer(),
  joinedAt: Timestamp,
  endedAt: nullable(Timestamp),
});

export function toMemberView({ joinedAt, endedAt, ...member }: StormMember): Static<typeof MemberView> {
  return { ...member, joinedAt: toTimestamp(joinedAt), endedAt: toTimestampOrNull(endedAt) };
}

/** Limit on the entries of a log and of a timeline in one answer. */
export const LOG_MAX = 5_000;
export const TIMELINE_MAX = 2_000;

export const IncidentWithLogView = Type.Object({
  ...INCIDENT_FIELDS,
  escalation: Type.Object({
    ...ESCALATION_FIELDS,
    teamId: nullable(Type.String({ description: 'the team of the policy, whose schedules the steps ask' })),
    steps: Type.Array(StepRecordView, {
      description: `the steps of the policy as they were at the trigger, and those that came later, with what became of each; the newest ${INCIDENT_STEPS_MAX}`,
    }),
  }),
  members: Type.Array(MemberView, {
    description:
      'what an incident stands for that was opened because its service opened too many: the newest 200, details.standsFor counts them; empty for any other',
  }),
  alerts: Type.Array(AlertView, {
    description: `the alerts of other tools that it stands for, oldest first; the first ${ALERTS_SHOWN}; empty for any other`,
  }),
  notifications: Type.Array(NotificationView, {
    description: `the notification log, oldest first; the newest ${LOG_MAX} entries`,
  }),
  notificationTotal: Type.Integer({ description: 'how many entries the notification log has' }),
  notes: Type.Array(NoteView, { description: 'what people have written about it, oldest first' }),
  timeline: Type.Array(Type.Object({ at: Timestamp, event: Type.String(), text: Type.String() }), {
    description: `what happened, oldest first, as sentences; the newest ${TIMELINE_MAX} entries`,
  }),
  timelineTotal: Type.Integer({ description: 'how many entries the timeline has' }),
  evidence: EvidenceView,
});

/** The fields of an incident that hold what senders of telemetry wrote. */
export const INCIDENT_UNTRUSTED_TEXT = ['title', 'details'];

export const INCIDENT_EXAMPLE: Static<typeof IncidentView> = {
  incidentId: IDS.incidentId,
  number: 1287,
  status: 'triggered',
  title: 'Checkout is slow: 1.24 s > 800 ms (average of http_request_duration_ms)',
  kind: 'metric_threshold',
  serviceId: IDS.serviceId,
  ruleId: IDS.ruleId,
  exceptionGroupId: null,
  escalationPolicyId: IDS.policyId,
  severity: 'error',
  details: { value: 1240, comparator: '>', threshold: 800, windowMinutes: 5, aggregation: 'avg' },
  occurrences: 3,
  triggeredAt: '2027-02-03T02:04:15.000Z',
  acknowledgedAt: null,
  acknowledgedBy: null,
  resolvedAt: null,
  resolvedBy: null,
  escalation: {
    state: 'running',
    nextStep: 1,
    nextStepAt: '2027-02-03T02:14:15.000Z',
    waitsFor: null,
    stepCount: 2,
    firstStep: 0,
  },
  commanderId: null,
  isShadow: false,
  createdAt: '2027-02-03T02:04:15.000Z',
  updatedAt: '2027-02-03T02:05:00.000Z',
};

export const ACKNOWLEDGED_EXAMPLE: Static<typeof IncidentView> = {
  ...INCIDENT_EXAMPLE,
  status: 'acknowledged',
  acknowledgedAt: '2027-02-03T02:06:40.550Z',
  acknowledgedBy: { userId: IDS.userId, via: 'rest' },
  escalation: { state: 'paused', nextStep: null, nextStepAt: null, waitsFor: null, stepCount: 2, firstStep: 0 },
  updatedAt: '2027-02-03T02:06:40.550Z',
};

export const INCIDENT_WITH_LOG_EXAMPLE: Static<typeof IncidentWithLogView> = {
  ...INCIDENT_EXAMPLE,
  members: [],
  alerts: [],
  escalation: {
    ...INCIDENT_EXAMPLE.escalation,
    teamId: IDS.teamId,
    steps: [
      {
        index: 0,
        afterMinutes: 0,
        countsFrom: '2027-02-03T02:04:15.000Z',
        channels: ['push', 'sms'],
        targetUserIds: [],
        useSchedule: true,
        dueAt: '2027-02-03T02:04:15.000Z',
        waitsFor: null,
        isBroughtForward: false,
        state: 'fired',
        settledAt: '2027-02-03T02:04:15.214Z',
        reason: null,
        people: [{ userId: IDS.userId, status: 'delivered', isSimulated: false }],
      },
      {
        index: 1,
        afterMinutes: 10,
        countsFrom: '2027-02-03T02:04:15.000Z',
        channels: ['call'],
        targetUserIds: [IDS.otherUserId],
        useSchedule: false,
        dueAt: '2027-02-03T02:14:15.000Z',
        waitsFor: null,
        isBroughtForward: false,
        state: 'pending',
        settledAt: null,
        reason: null,
        people: [],
      },
    ],
  },
  notifications: [
    {
      notificationId: IDS.notificationId,
      at: '2027-02-03T02:04:15.214Z',
      step: 0,
      userId: IDS.userId,
      channel: 'sms',
      to: '+31••••••78',
      status: 'delivered',
      reason: null,
      news: null,
      attempts: 1,
      providerId: 'SM5f1c8a7e3d2b4960a1c3e5f7092b4d68',
      isSimulated: false,
      updatedAt: '2027-02-03T02:04:17.902Z',
    },
  ],
  notificationTotal: 1,
  notes: [],
  timeline: [
    {
      at: '2027-02-03T02:04:15.000Z',
      event: 'triggered',
      text: 'Triggered by the rule "Checkout is slow": the average of http_request_duration_ms over 5 minutes is 1,240.',
    },
    { at: '2027-02-03T02:04:15.214Z', event: 'step_fired', text: 'Step 1 fired, paging 1 person.' },
    { at: '2027-02-03T02:04:17.902Z', event: 'page_delivered', text: 'SMS to Anna de Vries arrived.' },
  ],
  timelineTotal: 3,
  evidence: EVIDENCE_EXAMPLE,
};

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
    ...(incident.acknowledgements && { acknowledgements: [...incident.acknowledgements] }),
    escalation: toEscalationView(incident, steps),
    commanderId: incident.commanderId,
    isShadow: incident.isShadow,
    createdAt: toTimestamp(incident.createdAt),
    updatedAt: toTimestamp(incident.updatedAt),
  };
}

function toEscalationView(
  incident: IncidentRow,
  steps: readonly StepState[],
): Static<typeof IncidentView>['escalation'] {
  const { nextStepAt, ...escalation } = escalationStateOf(incident.status, steps);
  return {
    ...escalation,
    nextStepAt: toTimestampOrNull(nextStepAt),
    waitsFor: waitsFor(incident, steps),
    firstStep: firstStepOfRun(incident.steps),
  };
}

/** Returns the escalation with the steps as they were at the trigger, in place of the summary that lists have. */
export function toEscalationWithStepsView(
  incident: IncidentRow,
  timers: readonly StepTimerRow[],
  pages: readonly Pick<NotificationRow, 'stepIndex' | 'userId' | 'status'>[],
  isSimulated: (stepIndex: number, userId: string) => boolean,
): Static<typeof IncidentWithLogView>['escalation'] {
  const steps = toStepRecords(incident, timers, pages).map(
    ({ origin, hours: _, insteadOf: __, scheduleIds, ...step }) => ({
      ...step,
      ...(scheduleIds && { scheduleIds: [...scheduleIds] }),
      ...(step.members && { members: { ...step.members } }),
      ...(origin && { ofPolicyId: origin.policyId }),
      channels: [...step.channels],
      targetUserIds: [...step.targetUserIds],
      people: step.people.map((person) => ({ ...person, isSimulated: isSimulated(step.index, person.userId) })),
      dueAt: toTimestampOrNull(step.dueAt),
      settledAt: toTimestampOrNull(step.settledAt),
    }),
  );
  return { ...toEscalationView(incident, timers), teamId: incident.teamId, steps };
}
