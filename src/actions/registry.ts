import { distance } from 'fastest-levenshtein';

import type { AnyAction, AnyConsoleOperation, AnyOperation } from '#actions/action_context.ts';
import { getBilling } from '#actions/billing/get_billing.ts';
import { setSecondFactorPolicy } from '#actions/organization/set_second_factor_policy.ts';
import { createDashboard } from '#actions/dashboards/create_dashboard.ts';
import { deleteDashboard } from '#actions/dashboards/delete_dashboard.ts';
import { getDashboard } from '#actions/dashboards/get_dashboard.ts';
import { listDashboards } from '#actions/dashboards/list_dashboards.ts';
import { updateDashboard } from '#actions/dashboards/update_dashboard.ts';
import { getExceptionGroup } from '#actions/exceptions/get_exception_group.ts';
import { listExceptionGroups } from '#actions/exceptions/list_exception_groups.ts';
import { setExceptionStatus } from '#actions/exceptions/set_exception_status.ts';
import { acknowledgeIncident } from '#actions/incidents/acknowledge_incident.ts';
import { countIncidentsByService } from '#actions/incidents/count_incidents_by_service.ts';
import { countIncidents } from '#actions/incidents/count_incidents.ts';
import { getIncident } from '#actions/incidents/get_incident.ts';
import { listIncidents } from '#actions/incidents/list_incidents.ts';
import { reopenIncident } from '#actions/incidents/reopen_incident.ts';
import { resolveIncident } from '#actions/incidents/resolve_incident.ts';
import { searchIncidents } from '#actions/incidents/search_incidents.ts';
import { unacknowledgeIncident } from '#actions/incidents/unacknowledge_incident.ts';
import { confirmPhone } from '#actions/me/confirm_phone.ts';
import { requestPhoneCode } from '#actions/me/request_phone_code.ts';
import { setReplyPin } from '#actions/me/set_reply_pin.ts';
import { listMetricNames } from '#actions/metrics/list_metric_names.ts';
import { queryMetric } from '#actions/metrics/query_metric.ts';
import { removeMember } from '#actions/people/remove_member.ts';
import { createEscalationPolicy } from '#actions/policies/create_escalation_policy.ts';
import { deleteEscalationPolicy } from '#actions/policies/delete_escalation_policy.ts';
import { updateEscalationPolicy } from '#actions/policies/update_escalation_policy.ts';
import { createAlertRule } from '#actions/rules/create_alert_rule.ts';
import { deleteAlertRule } from '#actions/rules/delete_alert_rule.ts';
import { updateAlertRule } from '#actions/rules/update_alert_rule.ts';
import { createSchedule } from '#actions/schedules/create_schedule.ts';
import { createScheduleOverride } from '#actions/schedules/create_schedule_override.ts';
import { deleteScheduleOverride } from '#actions/schedules/delete_schedule_override.ts';
import { deleteSchedule } from '#actions/schedules/delete_schedule.ts';
import { updateSchedule } from '#actions/schedules/update_schedule.ts';
import { whoIsOnCall } from '#actions/schedules/who_is_on_call.ts';
import { createService } from '#actions/services/create_service.ts';
import { deleteService } from '#actions/services/delete_service.ts';
import { disableCapability } from '#actions/services/disable_capability.ts';
import { enableCapability } from '#actions/services/enable_capability.ts';
import { getService } from '#actions/services/get_service.ts';
import { listServices } from '#actions/services/list_services.ts';
import { revealIngestKey } from '#actions/services/reveal_ingest_key.ts';
import { rotateIngestKey } from '#actions/services/rotate_ingest_key.ts';
import { searchServices } from '#actions/services/search_services.ts';
import { setRetention } from '#actions/services/set_retention.ts';
import { updateService } from '#actions/services/update_service.ts';
import { getSetupProgress } from '#actions/setup/get_setup_progress.ts';
import { addTeamMember } from '#actions/teams/add_team_member.ts';
import { createTeam } from '#actions/teams/create_team.ts';
import { deleteTeam } from '#actions/teams/delete_team.ts';
import { findTeams } from '#actions/teams/find_teams.ts';
import { listTeams } from '#actions/teams/list_teams.ts';
import { removeTeamMember } from '#actions/teams/remove_team_member.ts';
import { updateTeam } from '#actions/teams/update_team.ts';
import { updateTeamMember } from '#actions/teams/update_team_member.ts';
import { AppError } from '#kernel/errors.ts';

/** A heading of the contract (action-api §4) with its actions. */
interface ActionGroup {
  readonly heading: string;
  readonly about: string;
  readonly actions: readonly AnyAction[];
}

/** Every action, by the headings and in the order of the contract. */
export const ACTION_GROUPS: readonly ActionGroup[] = [
  {
    heading: 'Services',
    about: 'What is monitored, what is enabled for it, and the credentials that it sends data with.',
    actions: [
      listServices,
      getService,
      createService,
      updateService,
      deleteService,
      enableCapability,
      disableCapability,
      setRetention,
      rotateIngestKey,
    ],
  },
  {
    heading: 'Dashboards and metrics',
    about: 'Layouts of widgets, and queries over the metrics that services send.',
    actions: [
      listDashboards,
      getDashboard,
      createDashboard,
      updateDashboard,
      deleteDashboard,
      queryMetric,
      listMetricNames,
    ],
  },
  {
    heading: 'Exceptions',
    about: 'Groups of alike exceptions, and what people decided of them.',
    actions: [listExceptionGroups, getExceptionGroup, setExceptionStatus],
  },
  {
    heading: 'Teams and members',
    about: 'Who is on call together, and how each is reached.',
    actions: [listTeams, createTeam, updateTeam, deleteTeam, addTeamMember, updateTeamMember, removeTeamMember],
  },
  {
    heading: 'Schedules',
    about: 'Whose turn it is when, and who stands in for whom.',
    actions: [createSchedule, updateSchedule, deleteSchedule, createScheduleOverride, whoIsOnCall],
  },
  {
    heading: 'Escalation policies',
    about: 'Who is paged next, and after how many minutes, while nobody answers.',
    actions: [createEscalationPolicy, updateEscalationPolicy, deleteEscalationPolicy],
  },
  {
    heading: 'Alert rules',
    about: 'What turns a breach of a metric or a new exception into an incident.',
    actions: [createAlertRule, updateAlertRule, deleteAlertRule],
  },
  {
    heading: 'Incidents',
    about: 'What people are paged about, from the trigger until somebody resolves it.',
    actions: [listIncidents, getIncident, acknowledgeIncident, resolveIncident],
  },
];

export const ACTIONS: readonly AnyAction[] = ACTION_GROUPS.flatMap(({ actions }) => actions);

/** What only the console offers, by name. */
export const CONSOLE_OPERATIONS: readonly AnyConsoleOperation[] = [
  getBilling,
  getSetupProgress,
  removeMember,
  revealIngestKey,
  searchIncidents,
  countIncidents,
  reopenIncident,
  unacknowledgeIncident,
  deleteScheduleOverride,
  requestPhoneCode,
  confirmPhone,
  setReplyPin,
  setSecondFactorPolicy,
  countIncidentsByService,
  searchServices,
  findTeams,
];

const BY_NAME = new Map(ACTIONS.map((action) => [action.name, action]));
const CONSOLE_OPERATIONS_BY_NAME = new Map(CONSOLE_OPERATIONS.map((operation) => [operation.name, operation]));

/** What the console may invoke: every action, and its own operations. Throws as `getAction` does. */
export function getConsoleOperation(name: string): AnyOperation {
  return CONSOLE_OPERATIONS_BY_NAME.get(name) ?? getAction(name);
}

/** Throws `unknown_action`, with the names that are close to a misspelt one. */
export function getAction(name: string): AnyAction {
  const action = BY_NAME.get(name);
  if (action !== undefined) return action;
  const near = nearestActionNames(name);
  const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '';
  throw new AppError('unknown_action', `no action is named ${JSON.stringify(name.slice(0, 100))}${hint}`);
}

/** Up to three of them. */
function nearestActionNames(name: string): string[] {
  const written = name.slice(0, 60).toLowerCase();
  return ACTIONS.map((action) => ({ name: action.name, distance: distance(written, action.name) }))
    .filter(({ name: known, distance }) => distance <= Math.ceil(known.length / 2))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map((near) => near.name);
}
