import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import {
  ACKNOWLEDGED,
  DASHBOARD,
  GROUP,
  INCIDENT,
  INCIDENT_WITH_LOG,
  MEMBER,
  ON_CALL,
  POLICY,
  RESOLVED,
  RULE,
  SCHEDULE,
  SERVICE,
  SERVICE_WITH_KEYS,
  TEAM,
  WARNING,
} from '#entry/http/openapi/story.ts';

/** A call as it could be made: the body, and the result that answers it. */
export interface Example {
  readonly body: object;
  readonly result: object;
}

const {
  serviceId,
  dashboardId,
  groupId,
  teamId,
  memberId,
  userId,
  otherUserId,
  scheduleId,
  policyId,
  ruleId,
  incidentId,
} = IDS;
const { layout, ...dashboardSummary } = DASHBOARD;
const { config: ruleConfig } = RULE;

const SERIES = {
  serviceId,
  metricName: 'http_request_duration_ms{route="/pay"}',
  aggregation: 'avg',
  windowMinutes: 60,
  from: '2027-02-03T01:05:00.000Z',
  to: '2027-02-03T02:05:00.000Z',
  stepSeconds: 60,
  points: [
    { at: '2027-02-03T02:03:00.000Z', value: 412.5 },
    { at: '2027-02-03T02:04:00.000Z', value: 1240 },
  ],
};

const FRAME = {
  function: 'pay',
  module: null,
  file: 'src/payment.ts',
  line: 118,
  column: 11,
  inApp: true,
  code: {
    before: ['  const answer = await bank.charge(card, amount);'],
    line: '  if (answer.declined) throw new PaymentError(`card ${card.last4} was declined`);',
    after: ['  return answer;'],
  },
  sourceUrl: 'https://github.com/northwind/checkout/blob/2027.5.1/src/payment.ts#L118',
};

const GROUP_IN_FULL = {
  ...GROUP,
  pattern: 'card <*> was declined',
  triage: {
    severity: 'error',
    culprit: {
      label: 'pay in src/payment.ts',
      function: FRAME.function,
      module: null,
      file: FRAME.file,
      line: FRAME.line,
      inApp: true,
      sourceUrl: FRAME.sourceUrl,
    },
    firstSeenAt: GROUP.firstSeenAt,
    lastSeenAt: GROUP.lastSeenAt,
    eventCount: 37,
    userCount: 21,
    environments: [{ value: 'production', count: 37 }],
    releases: { first: '2027.5.0', last: '2027.5.1' },
    isHandled: false,
    isNew: true,
    isRegression: false,
    trend: { direction: 'new', changePercent: null, last7Days: 37, previous7Days: 0 },
    topTags: [{ key: 'runtime', values: [{ value: 'node v24.1.0', count: 37 }] }],
    openIncidentId: null,
    grouping: {
      version: 2,
      parts: [{ strategy: 'exception', because: 'the stack of the exception', lines: ['payment.ts pay'] }],
    },
  },
  dailyCounts: ['28', '29', '30', '31', '01', '02', '03'].map((day) => ({
    date: `2027-0${Number(day) > 20 ? 1 : 2}-${day}`,
    count: day === '03' ? 37 : 0,
  })),
  recentEvents: [
    {
      eventId: '4c1d7f0e9b2a4c8d8e6f5a3b2c1d0e9f',
      at: GROUP.lastSeenAt,
      receivedAt: '2027-02-03T02:31:06.101Z',
      level: 'error',
      platform: 'node',
      message: null,
      environment: 'production',
      release: '2027.5.1',
      transaction: 'POST /pay',
      logger: null,
      serverName: 'checkout-7f9c',
      isHandled: false,
      user: { id: '88213', email: null, username: null, ip: null },
      tags: { runtime: 'node v24.1.0' },
      exceptions: [{ type: 'PaymentError', value: 'card 4242 was declined', module: null, frames: [FRAME] }],
      thread: null,
      frames: [],
      breadcrumbs: [],
      request: { method: 'POST', url: 'https://shop.northwind.example/pay' },
      contexts: {},
      extra: {},
      sdk: { name: 'sentry.javascript.node', version: '11.12.0' },
    },
  ],
};

/** One call of every action, by its name. */
export const EXAMPLES: Readonly<Record<string, Example>> = {
  list_services: { body: {}, result: { services: [SERVICE] } },
  get_service: { body: { serviceId }, result: SERVICE_WITH_KEYS },
  create_service: {
    body: { name: 'checkout', environment: 'production', scmOwner: 'northwind', scmRepo: 'checkout' },
    result: { ...SERVICE_WITH_KEYS, capabilities: [], billing: [], alertRules: [] },
  },
  update_service: {
    body: { serviceId, name: 'checkout', environment: null, scmOwner: 'northwind', scmRepo: 'checkout' },
    result: { ...SERVICE, environment: null, updatedAt: '2027-02-01T13:20:11.046Z' },
  },
  delete_service: { body: { serviceId }, result: { deleted: true, serviceId } },
  enable_capability: { body: { serviceId, capability: 'metrics' }, result: SERVICE },
  disable_capability: {
    body: { serviceId, capability: 'metrics' },
    result: { ...SERVICE, capabilities: ['exceptions', 'oncall'], updatedAt: '2027-02-01T13:20:11.046Z' },
  },
  set_retention: {
    body: { serviceId, capability: 'exceptions', retentionDays: 60 },
    result: {
      ...SERVICE,
      retentionDays: { ...SERVICE.retentionDays, exceptions: 60 },
      updatedAt: '2027-02-01T13:20:11.046Z',
    },
  },
  rotate_ingest_key: { body: { serviceId }, result: SERVICE_WITH_KEYS },

  list_dashboards: { body: {}, result: { dashboards: [dashboardSummary] } },
  get_dashboard: { body: { dashboardId }, result: DASHBOARD },
  create_dashboard: { body: { name: DASHBOARD.name, serviceId, layout }, result: DASHBOARD },
  update_dashboard: {
    body: { dashboardId, name: 'Checkout', layout },
    result: { ...DASHBOARD, name: 'Checkout', updatedAt: '2027-02-01T13:20:11.046Z' },
  },
  delete_dashboard: { body: { dashboardId }, result: { deleted: true, dashboardId } },
  query_metric: {
    body: { serviceId, metricName: SERIES.metricName, windowMinutes: 60, aggregation: 'avg' },
    result: SERIES,
  },
  list_metric_names: {
    body: { serviceId },
    result: { metricNames: ['http_request_duration_ms', 'orders_total', 'queue_depth'] },
  },

  list_exception_groups: { body: { serviceId, status: 'unresolved' }, result: { groups: [GROUP], total: 1 } },
  get_exception_group: { body: { groupId }, result: GROUP_IN_FULL },
  set_exception_status: {
    body: { groupId, status: 'resolved' },
    result: {
      ...GROUP,
      status: 'resolved',
      statusChangedAt: '2027-02-03T09:14:02.730Z',
      resolvedInRelease: '2027.5.1',
      updatedAt: '2027-02-03T09:14:02.730Z',
    },
  },

  list_teams: {
    body: {},
    result: {
      teams: [{ ...TEAM, members: [MEMBER], schedules: [SCHEDULE], escalationPolicies: [POLICY], warnings: [WARNING] }],
      people: [{ userId, name: MEMBER.name, email: MEMBER.email }],
    },
  },
  create_team: { body: { name: TEAM.name }, result: TEAM },
  update_team: {
    body: { teamId, name: 'Payments and refunds' },
    result: { ...TEAM, name: 'Payments and refunds', updatedAt: '2027-02-01T13:20:11.046Z' },
  },
  delete_team: { body: { teamId }, result: { deleted: true, teamId } },
  add_team_member: {
    body: {
      teamId,
      userId,
      phone: MEMBER.phone,
      smsEnabled: true,
      callEnabled: true,
      pushEnabled: true,
      emailEnabled: false,
    },
    result: MEMBER,
  },
  update_team_member: {
    body: {
      memberId,
      phone: null,
      smsEnabled: false,
      callEnabled: false,
      pushEnabled: true,
      emailEnabled: true,
      sortOrder: 2,
    },
    result: {
      ...MEMBER,
      phone: null,
      smsEnabled: false,
      callEnabled: false,
      emailEnabled: true,
      sortOrder: 2,
      updatedAt: '2027-02-01T13:20:11.046Z',
    },
  },
  remove_team_member: { body: { memberId }, result: { deleted: true, memberId } },

  create_schedule: {
    body: {
      teamId,
      name: SCHEDULE.name,
      timezone: SCHEDULE.timezone,
      rotationType: 'weekly',
      rotationConfig: SCHEDULE.rotationConfig,
      startAt: '2027-01-04T09:00',
    },
    result: SCHEDULE,
  },
  update_schedule: {
    body: {
      scheduleId,
      name: SCHEDULE.name,
      timezone: SCHEDULE.timezone,
      rotationType: 'daily',
      rotationConfig: { userIds: [otherUserId, userId], shiftHours: 12 },
    },
    result: {
      ...SCHEDULE,
      rotationType: 'daily',
      rotationConfig: { userIds: [otherUserId, userId], shiftHours: 12 },
      updatedAt: '2027-02-01T13:20:11.046Z',
    },
  },
  delete_schedule: { body: { scheduleId }, result: { deleted: true, scheduleId } },
  create_schedule_override: {
    body: { scheduleId, userId: otherUserId, startAt: '2027-02-06T09:00', endAt: '2027-02-07T09:00:00+01:00' },
    result: {
      overrideId: IDS.overrideId,
      scheduleId,
      userId: otherUserId,
      startAt: '2027-02-06T08:00:00.000Z',
      endAt: '2027-02-07T08:00:00.000Z',
    },
  },
  who_is_on_call: { body: { teamId }, result: ON_CALL },

  create_escalation_policy: { body: { teamId, name: POLICY.name, steps: POLICY.steps }, result: POLICY },
  update_escalation_policy: {
    body: { policyId, name: POLICY.name, steps: [{ afterMinutes: 0, channels: ['call'], useSchedule: true }] },
    result: {
      ...POLICY,
      steps: [{ afterMinutes: 0, channels: ['call'], targetUserIds: [], useSchedule: true }],
      updatedAt: '2027-02-01T13:20:11.046Z',
    },
  },
  delete_escalation_policy: {
    body: { policyId },
    result: { deleted: true, policyId, detachedRuleIds: [ruleId] },
  },

  create_alert_rule: {
    body: {
      serviceId,
      name: RULE.name,
      kind: 'metric_threshold',
      config: ruleConfig,
      escalationPolicyId: policyId,
      enabled: true,
    },
    result: RULE,
  },
  update_alert_rule: {
    body: {
      ruleId,
      name: RULE.name,
      config: { ...ruleConfig, threshold: 1200 },
      escalationPolicyId: null,
      enabled: false,
    },
    result: {
      ...RULE,
      config: { ...ruleConfig, threshold: 1200 },
      escalationPolicyId: null,
      enabled: false,
      status: 'disabled',
      updatedAt: '2027-02-01T13:20:11.046Z',
    },
  },
  delete_alert_rule: { body: { ruleId }, result: { deleted: true, ruleId } },

  list_incidents: {
    body: { serviceId, status: 'triggered' },
    result: { incidents: [INCIDENT], total: 1, counts: { triggered: 1, acknowledged: 0, resolved: 12 } },
  },
  get_incident: { body: { incidentId }, result: INCIDENT_WITH_LOG },
  acknowledge_incident: { body: { incidentId }, result: ACKNOWLEDGED },
  resolve_incident: { body: { incidentId }, result: RESOLVED },
};
