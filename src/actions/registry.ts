import { CONFIGURATION_OPERATIONS } from '#modules/configuration/operations/operations.ts';
import { AUDIT_STREAM_OPERATIONS } from '#modules/audit/operations/audit_streams.ts';
import {
  confirmPhone,
  getNumberCampaign,
  requestPhoneCode,
  setReplyPin,
  startNumberCampaign,
  stopNumberCampaign,
} from '#modules/contacts/operations/phone_numbers.ts';
import { MOVE_IN_OPERATIONS } from '#modules/moving_in/operations/move_in.ts';
import { RELEASE_OPERATIONS } from '#modules/releases/operations/releases.ts';
import { PROVIDER_SIGN_IN, SIGN_IN_OPERATIONS } from '#modules/sign_in/operations/sign_in_settings.ts';
import { PROVISIONING_OPERATIONS } from '#modules/provisioning/operations/provisioning.ts';
import { STATUS_PAGE_OPERATIONS } from '#modules/status_pages/operations/status_pages.ts';
import { PLACE_OPERATIONS } from '#modules/places/operations/places.ts';
import { LAYER_OPERATIONS, SCHEDULE_OPERATIONS } from '#modules/schedules/operations/operations.ts';
import { SERVICE_OPERATIONS } from '#modules/services/operations/operations.ts';
import { SHADOW_OPERATIONS } from '#modules/shadow/operations/shadow_mode.ts';
import type { AnyAccountOperation, AnyAction, AnyConsoleOperation, AnyOperation } from '#actions/action_context.ts';
import { addPasskey, beginPasskey, beginPasskeySignIn, removePasskey } from '#modules/accounts/operations/passkeys.ts';
import {
  changePassword,
  getPasswordReset,
  requestPasswordReset,
  resetPassword,
} from '#modules/accounts/operations/passwords.ts';
import {
  endOtherSessions,
  endSession,
  getSession,
  listSessions,
  signOut,
} from '#modules/accounts/operations/sessions.ts';
import {
  beginAuthenticatorApp,
  confirmAuthenticatorApp,
  getSecondFactors,
  removeAuthenticatorApp,
  replaceRecoveryCodes,
} from '#modules/accounts/operations/second_factors.ts';
import { beginStepUp, completeSignIn, signIn, stepUp } from '#modules/accounts/operations/sign_in.ts';
import { getMe, updateMe } from '#modules/accounts/operations/me.ts';
import {
  connectApp,
  disconnectApp,
  getConnectRequest,
  listConnections,
  refuseApp,
} from '#modules/apps/operations/apps.ts';
import { exportAuditLog, listAuditLog } from '#modules/audit/operations/list_audit_log.ts';
import { getBilling } from '#modules/capabilities/operations/get_billing.ts';
import { createDashboard } from '#modules/dashboards/operations/create_dashboard.ts';
import { deleteDashboard } from '#modules/dashboards/operations/delete_dashboard.ts';
import { getDashboard } from '#modules/dashboards/operations/get_dashboard.ts';
import { listDashboards, searchDashboards } from '#modules/dashboards/operations/list_dashboards.ts';
import { saveDashboard, updateDashboard } from '#modules/dashboards/operations/update_dashboard.ts';
import {
  getDeliveryHealth,
  getLateness,
  getPagingProblems,
} from '#modules/notifications/operations/get_paging_problems.ts';
import { EXCEPTION_OPERATIONS } from '#modules/exceptions/operations/console_operations.ts';
import { getExceptionGroup } from '#modules/exceptions/operations/get_exception_group.ts';
import { listExceptionGroups } from '#modules/exceptions/operations/list_exception_groups.ts';
import { setExceptionStatus } from '#modules/exceptions/operations/set_exception_status.ts';
import { getHome } from '#modules/home/operations/get_home.ts';
import { setUpPaging } from '#modules/home/operations/set_up_paging.ts';
import { acknowledgeIncident, unacknowledgeIncident } from '#modules/incidents/operations/acknowledge_incident.ts';
import { addIncidentNote, deleteIncidentNote, editIncidentNote } from '#modules/incidents/operations/notes.ts';
import { answerIncidents } from '#modules/incidents/operations/answer_incidents.ts';
import { declareIncident } from '#modules/incidents/operations/declare_incident.ts';
import { escalateIncident } from '#modules/incidents/operations/escalate_incident.ts';
import { getIncident } from '#modules/incidents/operations/get_incident.ts';
import {
  getIncidentContext,
  getLinkedIncidents,
  listMovedMetrics,
} from '#modules/incidents/operations/incident_context.ts';
import { RESPONSE_OPERATIONS } from '#modules/incidents/operations/incident_response.ts';
import { listAssignees, reassignIncident } from '#modules/incidents/operations/reassignment.ts';
import { listIncidents } from '#modules/incidents/operations/list_incidents.ts';
import { reopenIncident, resolveIncident } from '#modules/incidents/operations/resolve_incident.ts';
import {
  countIncidents,
  countIncidentsByService,
  searchIncidents,
} from '#modules/incidents/operations/search_incidents.ts';
import { createApiKey, listApiKeys, revokeApiKey } from '#modules/api_keys/operations/api_keys.ts';
import { createPushSubscription, deletePushSubscription } from '#modules/contacts/operations/push_subscriptions.ts';
import { getContactCard, updateOwnContact } from '#modules/contacts/operations/update_own_contact.ts';
import { getTestNotification, sendTestNotification } from '#modules/contacts/operations/test_notification.ts';
import {
  describeLabels,
  describeMetrics,
  findServiceWithMetrics,
} from '#modules/metrics/operations/describe_metrics.ts';
import { listChartMarks } from '#modules/metrics/operations/list_chart_marks.ts';
import { listExemplars } from '#modules/metrics/operations/list_exemplars.ts';
import { listMetricNames } from '#modules/metrics/operations/list_metric_names.ts';
import { queryMetric, queryMetrics } from '#modules/metrics/operations/query_metric.ts';
import {
  renameOrganization,
  setSecondFactorPolicy,
  setShownPrices,
  setTraceLink,
  beginOrganizationExport,
  exportOrganization,
} from '#modules/organizations/operations/organization.ts';
import {
  acceptInvitation,
  createInvitation,
  getInvitation,
  listInvitations,
  revokeInvitation,
} from '#modules/organizations/operations/invitations.ts';
import { changeRole, listMembers, removeMember } from '#modules/organizations/operations/members.ts';
import { LOAD_OPERATIONS } from '#modules/load/operations/load_on_people.ts';
import { POLICY_OPERATIONS } from '#modules/policies/operations/operations.ts';
import { createEscalationPolicy } from '#modules/policies/operations/create_escalation_policy.ts';
import { deleteEscalationPolicy } from '#modules/policies/operations/delete_escalation_policy.ts';
import { updateEscalationPolicy } from '#modules/policies/operations/update_escalation_policy.ts';
import { AGENT_OPERATIONS } from '#modules/agents/operations/agents.ts';
import { ALERT_OPERATIONS } from '#modules/alerts/operations/operations.ts';
import { MONITOR_OPERATIONS } from '#modules/monitors/operations/monitors.ts';
import { createAlertRule } from '#modules/rules/operations/create_alert_rule.ts';
import { deleteAlertRule } from '#modules/rules/operations/delete_alert_rule.ts';
import { RULE_OPERATIONS } from '#modules/rules/operations/operations.ts';
import { updateAlertRule } from '#modules/rules/operations/update_alert_rule.ts';
import { createSchedule } from '#modules/schedules/operations/create_schedule.ts';
import { createScheduleOverride } from '#modules/schedules/operations/create_schedule_override.ts';
import { deleteSchedule } from '#modules/schedules/operations/delete_schedule.ts';
import { updateSchedule } from '#modules/schedules/operations/update_schedule.ts';
import { whoIsOnCall } from '#modules/schedules/operations/who_is_on_call.ts';
import { createService } from '#modules/services/operations/create_service.ts';
import { deleteService } from '#modules/services/operations/delete_service.ts';
import { disableCapability } from '#modules/capabilities/operations/disable_capability.ts';
import { enableCapability } from '#modules/capabilities/operations/enable_capability.ts';
import { getService } from '#modules/services/operations/get_service.ts';
import { listServices } from '#modules/services/operations/list_services.ts';
import { rotateIngestKey } from '#modules/services/operations/rotate_ingest_key.ts';
import { searchEverything } from '#modules/search/operations/search_everything.ts';
import { setRetention } from '#modules/services/operations/set_retention.ts';
import { updateService } from '#modules/services/operations/update_service.ts';
import { addTeamMember } from '#modules/teams/operations/add_team_member.ts';
import { createTeam } from '#modules/teams/operations/create_team.ts';
import { deleteTeam } from '#modules/teams/operations/delete_team.ts';
import { getMemberReach, getTeam } from '#modules/teams/operations/get_team.ts';
import {
  listTeams,
  searchPeopleWithoutTeam,
  searchTeamNames,
  searchTeams,
} from '#modules/teams/operations/list_teams.ts';
import { removeTeamMember } from '#modules/teams/operations/remove_team_member.ts';
import { renameTeam, updateTeam } from '#modules/teams/operations/update_team.ts';
import { editTeamMember, moveTeamMember, updateTeamMember } from '#modules/teams/operations/update_team_member.ts';
import { nearestActions } from '#actions/nearest_actions.ts';
import { AppError } from '#kernel/errors.ts';

interface ActionGroup {
  readonly heading: string;
  readonly about: string;
  readonly actions: readonly AnyAction[];
}

const GROUPS = [
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
] as const satisfies readonly ActionGroup[];

/** Actions by the headings and in the order of the contract. */
export const ACTION_GROUPS: readonly ActionGroup[] = GROUPS;

export const ACTIONS: readonly AnyAction[] = ACTION_GROUPS.flatMap(({ actions }) => actions);

const WITHIN_ORGANIZATIONS = [
  ...RELEASE_OPERATIONS,
  ...EXCEPTION_OPERATIONS,
  ...MONITOR_OPERATIONS,
  ...CONFIGURATION_OPERATIONS,
  ...ALERT_OPERATIONS,
  ...SHADOW_OPERATIONS,
  ...SIGN_IN_OPERATIONS,
  ...PLACE_OPERATIONS,
  ...STATUS_PAGE_OPERATIONS,
  ...AUDIT_STREAM_OPERATIONS,
  ...MOVE_IN_OPERATIONS,
  getNumberCampaign,
  startNumberCampaign,
  stopNumberCampaign,
  getBilling,
  getHome,
  setUpPaging,
  getLateness,
  getPagingProblems,
  removeMember,
  ...SERVICE_OPERATIONS,
  searchIncidents,
  countIncidents,
  reopenIncident,
  unacknowledgeIncident,
  answerIncidents,
  declareIncident,
  escalateIncident,
  reassignIncident,
  listAssignees,
  addIncidentNote,
  editIncidentNote,
  deleteIncidentNote,
  getIncidentContext,
  getLinkedIncidents,
  ...RESPONSE_OPERATIONS,
  searchEverything,
  ...AGENT_OPERATIONS,
  listMovedMetrics,
  ...SCHEDULE_OPERATIONS,
  ...LAYER_OPERATIONS,
  requestPhoneCode,
  confirmPhone,
  setReplyPin,
  setSecondFactorPolicy,
  setShownPrices,
  setTraceLink,
  beginOrganizationExport,
  exportOrganization,
  renameOrganization,
  countIncidentsByService,
  ...RULE_OPERATIONS,
  searchTeamNames,
  searchTeams,
  getMemberReach,
  getTeam,
  moveTeamMember,
  renameTeam,
  editTeamMember,
  searchPeopleWithoutTeam,
  ...POLICY_OPERATIONS,
  listMembers,
  changeRole,
  listInvitations,
  createInvitation,
  revokeInvitation,
  listApiKeys,
  createApiKey,
  revokeApiKey,
  ...PROVISIONING_OPERATIONS,
  listConnections,
  disconnectApp,
  listAuditLog,
  ...LOAD_OPERATIONS,
  exportAuditLog,
  getDeliveryHealth,
  getMe,
  getContactCard,
  updateOwnContact,
  createPushSubscription,
  deletePushSubscription,
  sendTestNotification,
  getTestNotification,
  queryMetrics,
  describeMetrics,
  findServiceWithMetrics,
  describeLabels,
  listChartMarks,
  listExemplars,
  searchDashboards,
  saveDashboard,
] as const satisfies readonly AnyConsoleOperation[];

/** Operations within an organization that only the console offers. */
export const CONSOLE_OPERATIONS: readonly AnyConsoleOperation[] = WITHIN_ORGANIZATIONS;

const ON_ACCOUNTS = [
  getSession,
  signIn,
  signOut,
  listSessions,
  endSession,
  endOtherSessions,
  completeSignIn,
  ...PROVIDER_SIGN_IN,
  beginPasskeySignIn,
  getSecondFactors,
  beginStepUp,
  stepUp,
  beginPasskey,
  addPasskey,
  removePasskey,
  beginAuthenticatorApp,
  confirmAuthenticatorApp,
  removeAuthenticatorApp,
  replaceRecoveryCodes,
  requestPasswordReset,
  getPasswordReset,
  resetPassword,
  updateMe,
  changePassword,
  getInvitation,
  acceptInvitation,
  getConnectRequest,
  connectApp,
  refuseApp,
] as const satisfies readonly AnyAccountOperation[];

/** Operations on a person's own account that only the console offers. */
export const ACCOUNT_OPERATIONS: readonly AnyAccountOperation[] = ON_ACCOUNTS;

/** Operations that the console may invoke within an organization, with the types of each input and result. */
export type OrganizationOperation = (typeof GROUPS)[number]['actions'][number] | (typeof WITHIN_ORGANIZATIONS)[number];

/** Operations that the console may invoke on an account, with the types of each input and result. */
export type OwnAccountOperation = (typeof ON_ACCOUNTS)[number];

const BY_NAME = new Map(ACTIONS.map((action) => [action.name, action]));
const CONSOLE_OPERATIONS_BY_NAME = new Map(CONSOLE_OPERATIONS.map((operation) => [operation.name, operation]));

/** Returns an operation that the console may invoke: any action, and its own operations. Throws as `getAction` does. */
export function getConsoleOperation(name: string): AnyOperation {
  return CONSOLE_OPERATIONS_BY_NAME.get(name) ?? getAction(name);
}

export function findAction(name: unknown): AnyAction | undefined {
  return typeof name === 'string' ? BY_NAME.get(name) : undefined;
}

/** Returns the action. Throws `unknown_action`, with the names that are close to a misspelt one. */
export function getAction(name: string): AnyAction {
  const action = findAction(name);
  if (action !== undefined) return action;
  const near = nearestActions(name, ACTIONS).map((action) => action.name);
  const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '';
  throw new AppError('unknown_action', `no action is named ${JSON.stringify(name.slice(0, 100))}${hint}`);
}
