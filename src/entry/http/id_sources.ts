export interface IdSource {
  /** What bears such an id, with its article. */
  readonly noun: string;
  readonly prefix: string;
  /** The action whose result shows it. */
  readonly shownBy: string;
}

/** Where the ids of a body come from, by the name of the property; the schemas of the actions leave it unsaid. */
export const ID_SOURCES: Readonly<Record<string, IdSource>> = {
  serviceId: { noun: 'a service', prefix: 'service', shownBy: 'list_services' },
  dashboardId: { noun: 'a dashboard', prefix: 'dashboard', shownBy: 'list_dashboards' },
  groupId: { noun: 'an exception group', prefix: 'group', shownBy: 'list_exception_groups' },
  teamId: { noun: 'a team', prefix: 'team', shownBy: 'list_teams' },
  memberId: { noun: 'a membership', prefix: 'member', shownBy: 'list_teams' },
  userId: { noun: 'a user of the organization', prefix: 'user', shownBy: 'list_teams' },
  scheduleId: { noun: 'a schedule', prefix: 'schedule', shownBy: 'list_teams' },
  policyId: { noun: 'an escalation policy', prefix: 'policy', shownBy: 'list_teams' },
  escalationPolicyId: { noun: 'an escalation policy', prefix: 'policy', shownBy: 'list_teams' },
  ruleId: { noun: 'an alert rule', prefix: 'rule', shownBy: 'get_service' },
  incidentId: { noun: 'an incident', prefix: 'incident', shownBy: 'list_incidents' },
};
