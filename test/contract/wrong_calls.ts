/** Ids and numbers of the world in which the calls are made. */
export interface Things {
  readonly serviceId: string;
  readonly teamId: string;
  readonly userId: string;
  readonly memberId: string;
  readonly scheduleId: string;
  readonly policyId: string;
  readonly ruleId: string;
  readonly dashboardId: string;
  readonly groupId: string;
  readonly incidentId: string;
  readonly number: number;
}

type WrongCall = readonly [tool: string, input: unknown];

/**
 * Calls as a language model writes them that knows the product by hearsay: names where ids are wanted, ids of other kinds,
 * numbers of incidents, properties and values of other products.
 */
export function wrongCalls(t: Things): WrongCall[] {
  const metric = { metricName: 'http_request_duration_ms', comparator: '>', threshold: 800 };
  const step = { afterMinutes: 0, channels: ['sms'], useSchedule: true };
  const rule = { serviceId: t.serviceId, name: 'Slow', kind: 'metric_threshold' };
  return [
    ['ack_incident', { incidentId: t.incidentId }],
    ['acknowledge_incident', { incidentId: `#${t.number}` }],
    ['acknowledge_incident', { incidentId: t.number }],
    ['acknowledge_incident', { incident_id: t.incidentId }],
    ['acknowledge_incident', { id: t.incidentId }],
    ['acknowledge_incident', { incidentId: t.incidentId, note: 'looking into it' }],
    ['acknowledge_incident', { incidentId: t.ruleId }],
    ['acknowledge_alert', { alertId: t.incidentId }],
    ['acknowledge', { incident: `INC-${t.number}` }],
    ['snooze_incident', { incidentId: t.incidentId, minutes: 30 }],
    ['get_incident', { incidentId: String(t.number) }],
    ['get_incident', { incident: 'Slow' }],
    ['get_incident', { incidentId: t.serviceId }],
    ['get_incident', { number: t.number }],
    ['get_incident', { incidentId: `incident ${t.number}` }],
    ['get_incident', { incidentId: t.incidentId, include: ['timeline'] }],
    ['get_incident_details', { incident_id: t.incidentId }],
    ['list_incidents', { status: 'open' }],
    ['list_incidents', { status: 'active' }],
    ['list_incidents', { status: 'TRIGGERED' }],
    ['list_incidents', { status: 'triggered', limit: 10 }],
    ['list_incidents', { service: 'checkout' }],
    ['list_incidents', { serviceId: 'checkout' }],
    ['list_incidents', { since: '24h' }],
    ['list_incidents', { status: null, serviceId: null }],
    ['list_alerts', {}],
    ['get_incidents', { state: 'firing' }],
    ['search_incidents', { query: 'latency', limit: 5 }],
    ['list_open_incidents', {}],
    ['listIncidents', {}],
    ['list_exception_groups', { status: 'open' }],
    ['list_exception_groups', { serviceId: 'Checkout', status: 'unresolved' }],
    ['list_exception_groups', { project: t.serviceId }],
    ['list_exceptions', { serviceId: t.serviceId }],
    ['list_issues', { status: 'new' }],
    ['list_errors', { service_id: t.serviceId, limit: 20 }],
    ['get_exception_group', { groupId: 'CardDeclined' }],
    ['get_exception_group', { issueId: t.groupId }],
    ['get_exception_group', { exceptionGroupId: t.groupId }],
    ['get_exception', { groupId: t.groupId }],
    ['get_issue_details', { issue_id: t.groupId }],
    ['set_exception_status', { groupId: t.groupId, status: 'closed' }],
    ['set_exception_status', { groupId: t.groupId, status: 'ignore' }],
    ['set_exception_status', { groupId: 'CardDeclined', status: 'resolved' }],
    ['update_exception_status', { groupId: t.groupId, status: 'muted' }],
    ['get_service', { serviceId: 'checkout' }],
    ['get_service', { name: 'checkout' }],
    ['get_service', { serviceId: 'Chekout' }],
    ['get_service', { serviceId: t.ruleId }],
    ['get_service', { id: t.serviceId }],
    ['list_projects', {}],
    ['list_services', { limit: 100 }],
    ['list_servces', {}],
    ['list_alert_rules', { serviceId: t.serviceId }],
    ['query_metric', { serviceId: t.serviceId, metric: 'http_request_duration_ms' }],
    ['query_metric', { serviceId: 'checkout', metricName: 'http_request_duration_ms' }],
    ['query_metric', { serviceId: t.serviceId, metricName: 'http_request_duration_ms', window: '1h' }],
    ['query_metric', { serviceId: t.serviceId, metricName: 'http_request_duration_ms', windowMinutes: '60' }],
    ['query_metric', { serviceId: t.serviceId, metricName: 'http_request_duration_ms', hours: 24 }],
    ['query_metric', { serviceId: t.serviceId, metricName: 'http_request_duration_ms', aggregation: 'average' }],
    ['query_metric', { serviceId: t.serviceId, metricName: 'http_request_duration_ms', windowMinutes: 43_200 }],
    ['query_metric', { serviceId: t.serviceId, metricName: 'http_request_duration' }],
    ['query_metric', { serviceId: t.serviceId, metricName: 'http_requst_duration_ms' }],
    ['get_metric_data', { service_id: t.serviceId, metric_name: 'http_request_duration_ms', period: '30m' }],
    ['list_metrics', { serviceId: t.serviceId }],
    ['list_metric_names', { service: 'checkout' }],
    ['who_is_on_call', { teamId: 'Payments' }],
    ['who_is_on_call', { team: 'payments' }],
    ['who_is_on_call', { scheduleId: t.scheduleId }],
    ['who_is_on_call', { teamId: t.teamId, at: '2026-12-06' }],
    ['who_is_on_call', { teamId: t.scheduleId }],
    ['get_on_call', { teamId: t.teamId }],
    ['get_oncall', { team_id: t.teamId }],
    ['list_schedules', {}],
    ['list_users', {}],
    ['get_team', { teamId: t.teamId }],
    [
      'create_schedule_override',
      { scheduleId: 'Primary', userId: 'Bram', startAt: 'tomorrow 09:00', endAt: 'tomorrow 17:00' },
    ],
    [
      'create_schedule_override',
      { scheduleId: t.scheduleId, user: 'Bram', start: '2027-03-06 09:00', end: '2027-03-06 17:00' },
    ],
    ['create_override', { schedule_id: t.scheduleId, user_id: t.userId, start_at: '2027-03-07', end_at: '2027-03-08' }],
    [
      'create_schedule_override',
      { scheduleId: t.teamId, userId: t.memberId, startAt: '2027-03-09T09:00:00Z', endAt: '2027-03-09T17:00:00Z' },
    ],
    ['create_schedule', { teamId: 'Payments', name: 'Second', rotationConfig: { users: ['Anna', 'Bram'] } }],
    ['create_schedule', { teamId: t.teamId, name: 'Third', type: 'week', userIds: [t.userId] }],
    ['create_escalation_policy', { teamId: 'Payments', name: 'P1', steps: [step] }],
    [
      'create_escalation_policy',
      { teamId: t.teamId, name: 'P2', steps: [{ delayMinutes: 5, channels: ['phone'], users: ['Anna'] }] },
    ],
    [
      'create_escalation_policy',
      { teamId: t.teamId, name: 'P3', steps: [{ afterMinutes: '10m', channels: 'sms', useSchedule: 'true' }] },
    ],
    ['create_policy', { team_id: t.teamId, name: 'P4', steps: [{ ...step, channels: ['text', 'voice'] }] }],
    [
      'create_alert_rule',
      { ...rule, config: { metric: 'http_request_duration_ms', operator: 'gt', value: 800, window: '5m' } },
    ],
    ['create_alert_rule', { ...rule, config: { ...metric, comparator: 'above' } }],
    ['create_alert_rule', { ...rule, config: { metricName: 'http_request_duration_ms', comparator: '>' } }],
    ['create_alert_rule', { serviceId: 'checkout', name: 'Slow', type: 'threshold', ...metric }],
    ['create_alert_rule', { ...rule, config: JSON.stringify(metric) }],
    ['create_alert_rule', { ...rule, config: metric, escalationPolicyId: 'Wake somebody' }],
    ['create_alert_rule', { ...rule, kind: 'exceptions', config: { minSeverity: 'warn' } }],
    ['update_alert_rule', { ruleId: 'Checkout is slow', enabled: 'false' }],
    ['disable_rule', { ruleId: t.ruleId, enabled: false }],
    ['add_team_member', { teamId: 'Payments', userId: 'cleo@example.com', phoneNumber: '+31612345679' }],
    ['update_team_member', { memberId: t.userId, phone: '+31612345670' }],
    ['enable_capability', { service: 'search', capability: 'monitoring' }],
    ['resolve_incident', { incidentId: `#${t.number}`, reason: 'fixed' }],
    ['close_incident', { incident_id: t.incidentId }],
  ];
}
