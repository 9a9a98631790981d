import type { Static } from 'typebox';

import type { DashboardView } from '#actions/dashboards/view.ts';
import type { ExceptionGroupView } from '#actions/exceptions/view.ts';
import type { IncidentView, IncidentWithLogView } from '#actions/incidents/view.ts';
import type { PolicyView } from '#actions/policies/view.ts';
import type { RuleView } from '#actions/rules/view.ts';
import type { ScheduleView } from '#actions/schedules/view.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import type { ServiceView, ServiceWithKeysView } from '#actions/services/view.ts';
import type { MemberView, TeamView } from '#actions/teams/view.ts';
import type { WarningView } from '#actions/teams/warnings.ts';

/*
 * One story that every example of the reference is taken from: the checkout service of a shop, the team that keeps it,
 * and the night on which its latency rose.
 */

const CREATED = { createdAt: '2027-01-04T09:12:30.184Z', updatedAt: '2027-01-04T09:12:30.184Z' };

export const SERVICE: Static<typeof ServiceView> = {
  serviceId: IDS.serviceId,
  name: 'checkout',
  environment: 'production',
  scmOwner: 'northwind',
  scmRepo: 'checkout',
  capabilities: ['exceptions', 'metrics', 'oncall'],
  retentionDays: { metrics: 30, exceptions: 90, oncall: 400 },
  ...CREATED,
};

export const RULE: Static<typeof RuleView> = {
  ruleId: IDS.ruleId,
  serviceId: IDS.serviceId,
  name: 'Checkout is slow',
  kind: 'metric_threshold',
  config: {
    metricName: 'http_request_duration_ms{route="/pay"}',
    comparator: '>',
    threshold: 800,
    windowMinutes: 5,
    aggregation: 'avg',
  },
  escalationPolicyId: IDS.policyId,
  enabled: true,
  status: 'active',
  missingMetric: null,
  ...CREATED,
};

export const SERVICE_WITH_KEYS: Static<typeof ServiceWithKeysView> = {
  ...SERVICE,
  ingestionKey: 'tocsin_ing_8Jq2VtY5mXw0ZcR7nKb4LpS9dHf3GaE6uTiWoQx1yPs0A1b2C',
  dsn: 'https://9f2c4b7d1e8a4f60b3c5d7e9f1a2b4c6@tocsin.example.com/42',
  credentials: 'shown',
  billing: [
    {
      periodId: IDS.periodId,
      capability: 'metrics',
      startsAt: '2027-01-04T09:12:41.007Z',
      endsAt: '2027-02-04T09:12:41.007Z',
      amountCents: 100,
      currency: 'EUR',
    },
  ],
  alertRules: [{ ...RULE, waitingForData: null }],
};

export const DASHBOARD: Static<typeof DashboardView> = {
  dashboardId: IDS.dashboardId,
  name: 'Checkout at a glance',
  serviceId: IDS.serviceId,
  ...CREATED,
  layout: [
    {
      type: 'timeseries',
      title: 'Time to pay',
      query: { metricName: 'http_request_duration_ms{route="/pay"}', aggregation: 'avg', windowMinutes: 60 },
      options: { unit: 'ms' },
      grid: { x: 0, y: 0, w: 8, h: 4 },
    },
  ],
};

export const GROUP: Static<typeof ExceptionGroupView> = {
  groupId: IDS.groupId,
  serviceId: IDS.serviceId,
  title: 'PaymentError: card <*> was declined',
  type: 'PaymentError',
  culprit: 'pay in src/payment.ts',
  severity: 'error',
  status: 'unresolved',
  statusChangedAt: '2027-02-03T01:58:12.310Z',
  resolvedInRelease: null,
  regressedAt: null,
  eventCount: 37,
  userCount: 21,
  firstSeenAt: '2027-02-03T01:58:12.310Z',
  lastSeenAt: '2027-02-03T02:31:05.922Z',
  createdAt: '2027-02-03T01:58:12.514Z',
  updatedAt: '2027-02-03T01:58:12.514Z',
};

export const TEAM: Static<typeof TeamView> = { teamId: IDS.teamId, name: 'Payments', ...CREATED };

const ANNA = { userId: IDS.userId, name: 'Anna de Vries', email: 'anna@northwind.example' };
const BRAM = { userId: IDS.otherUserId, name: 'Bram Jansen', email: 'bram@northwind.example' };

export const MEMBER: Static<typeof MemberView> = {
  memberId: IDS.memberId,
  teamId: IDS.teamId,
  ...ANNA,
  phone: '+31612345678',
  phoneConfirmed: true,
  smsEnabled: true,
  callEnabled: true,
  pushEnabled: true,
  emailEnabled: false,
  sortOrder: 0,
  ...CREATED,
};

export const SCHEDULE: Static<typeof ScheduleView> = {
  scheduleId: IDS.scheduleId,
  teamId: IDS.teamId,
  name: 'Primary',
  timezone: 'Europe/Amsterdam',
  rotationType: 'weekly',
  rotationConfig: { userIds: [IDS.userId, IDS.otherUserId] },
  startAt: '2027-01-04T08:00:00.000Z',
  ...CREATED,
};

/** The other one is in no team, and so has no number to call. */
export const WARNING: Static<typeof WarningView> = {
  kind: 'step_reaches_nobody',
  message:
    'Step 2 of the policy "Wake somebody" would reach nobody now: nobody has such a channel on and an address for it.',
  policyId: IDS.policyId,
  step: 1,
};

/** Since Monday at nine, with the other one next. */
export const ON_CALL = {
  teamId: IDS.teamId,
  at: '2027-02-03T02:05:00.000Z',
  onCall: [ANNA],
  schedules: [
    {
      scheduleId: IDS.scheduleId,
      name: SCHEDULE.name,
      timezone: SCHEDULE.timezone,
      onCall: ANNA,
      source: 'rotation',
      overrideId: null,
      since: '2027-02-01T08:00:00.000Z',
      until: '2027-02-08T08:00:00.000Z',
      next: { ...BRAM, at: '2027-02-08T08:00:00.000Z' },
    },
  ],
  warnings: [WARNING],
};

export const POLICY: Static<typeof PolicyView> = {
  policyId: IDS.policyId,
  teamId: IDS.teamId,
  name: 'Wake somebody',
  steps: [
    { afterMinutes: 0, channels: ['push', 'sms'], targetUserIds: [], useSchedule: true },
    { afterMinutes: 10, channels: ['call'], targetUserIds: [IDS.otherUserId], useSchedule: false },
  ],
  ...CREATED,
};

export const INCIDENT: Static<typeof IncidentView> = {
  incidentId: IDS.incidentId,
  number: 1287,
  status: 'triggered',
  title: 'Checkout is slow: 1.24 s > 800 ms (avg of http_request_duration_ms)',
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
  escalation: { state: 'running', nextStep: 1, nextStepAt: '2027-02-03T02:14:15.000Z', stepCount: 2 },
  createdAt: '2027-02-03T02:04:15.000Z',
  updatedAt: '2027-02-03T02:05:00.000Z',
};

export const ACKNOWLEDGED: Static<typeof IncidentView> = {
  ...INCIDENT,
  status: 'acknowledged',
  acknowledgedAt: '2027-02-03T02:06:40.550Z',
  acknowledgedBy: { userId: IDS.userId, via: 'rest' },
  escalation: { state: 'paused', nextStep: null, nextStepAt: null, stepCount: 2 },
  updatedAt: '2027-02-03T02:06:40.550Z',
};

export const RESOLVED: Static<typeof IncidentView> = {
  ...ACKNOWLEDGED,
  status: 'resolved',
  resolvedAt: '2027-02-03T02:41:03.211Z',
  resolvedBy: { userId: IDS.userId, via: 'rest' },
  escalation: { state: 'finished', nextStep: null, nextStepAt: null, stepCount: 2 },
  updatedAt: '2027-02-03T02:41:03.211Z',
};

export const INCIDENT_WITH_LOG: Static<typeof IncidentWithLogView> = {
  ...INCIDENT,
  members: [],
  escalation: {
    ...INCIDENT.escalation,
    teamId: IDS.teamId,
    steps: [
      {
        index: 0,
        afterMinutes: 0,
        channels: ['push', 'sms'],
        targetUserIds: [],
        useSchedule: true,
        dueAt: '2027-02-03T02:04:15.000Z',
        isBroughtForward: false,
        state: 'fired',
        settledAt: '2027-02-03T02:04:15.214Z',
        reason: null,
        people: [{ userId: IDS.userId, status: 'delivered' }],
      },
      {
        index: 1,
        afterMinutes: 10,
        channels: ['call'],
        targetUserIds: [IDS.otherUserId],
        useSchedule: false,
        dueAt: '2027-02-03T02:14:15.000Z',
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
      updatedAt: '2027-02-03T02:04:17.902Z',
    },
  ],
  timeline: [
    {
      at: '2027-02-03T02:04:15.000Z',
      event: 'triggered',
      text: 'Triggered by the rule "Checkout is slow": the average of http_request_duration_ms over 5 minutes is 1,240.',
    },
    { at: '2027-02-03T02:04:15.214Z', event: 'step_fired', text: 'Step 1 fired, paging 1 person.' },
    { at: '2027-02-03T02:04:17.902Z', event: 'page_delivered', text: 'SMS to Anna de Vries arrived.' },
  ],
};
