import { RELEASE_OPERATIONS } from '#actions/releases/operations.ts';
import type { AnyAccountOperation, AnyAction, AnyConsoleOperation, AnyOperation } from '#actions/action_context.ts';
import { addPasskey } from '#actions/account/add_passkey.ts';
import { beginAuthenticatorApp } from '#actions/account/begin_authenticator_app.ts';
import { beginPasskey } from '#actions/account/begin_passkey.ts';
import { beginPasskeySignIn } from '#actions/account/begin_passkey_sign_in.ts';
import { beginStepUp } from '#actions/account/begin_step_up.ts';
import { changePassword } from '#actions/account/change_password.ts';
import { completeSignIn } from '#actions/account/complete_sign_in.ts';
import { confirmAuthenticatorApp } from '#actions/account/confirm_authenticator_app.ts';
import { endOtherSessions } from '#actions/account/end_other_sessions.ts';
import { endSession } from '#actions/account/end_session.ts';
import { getPasswordReset } from '#actions/account/get_password_reset.ts';
import { getSecondFactors } from '#actions/account/get_second_factors.ts';
import { getSession } from '#actions/account/get_session.ts';
import { listSessions } from '#actions/account/list_sessions.ts';
import { removeAuthenticatorApp } from '#actions/account/remove_authenticator_app.ts';
import { removePasskey } from '#actions/account/remove_passkey.ts';
import { replaceRecoveryCodes } from '#actions/account/replace_recovery_codes.ts';
import { requestPasswordReset } from '#actions/account/request_password_reset.ts';
import { resetPassword } from '#actions/account/reset_password.ts';
import { signIn } from '#actions/account/sign_in.ts';
import { signOut } from '#actions/account/sign_out.ts';
import { stepUp } from '#actions/account/step_up.ts';
import { updateMe } from '#actions/account/update_me.ts';
import { connectApp } from '#actions/apps/connect_app.ts';
import { disconnectApp } from '#actions/apps/disconnect_app.ts';
import { getConnectRequest } from '#actions/apps/get_connect_request.ts';
import { listConnections } from '#actions/apps/list_connections.ts';
import { refuseApp } from '#actions/apps/refuse_app.ts';
import { exportAuditLog } from '#actions/audit/export_audit_log.ts';
import { listAuditLog } from '#actions/audit/list_audit_log.ts';
import { getBilling } from '#actions/billing/get_billing.ts';
import { createDashboard } from '#actions/dashboards/create_dashboard.ts';
import { deleteDashboard } from '#actions/dashboards/delete_dashboard.ts';
import { getDashboard } from '#actions/dashboards/get_dashboard.ts';
import { listDashboards } from '#actions/dashboards/list_dashboards.ts';
import { saveDashboard } from '#actions/dashboards/save_dashboard.ts';
import { searchDashboards } from '#actions/dashboards/search_dashboards.ts';
import { updateDashboard } from '#actions/dashboards/update_dashboard.ts';
import { getDeliveryHealth } from '#actions/delivery/get_delivery_health.ts';
import { getPagingProblems } from '#actions/delivery/get_paging_problems.ts';
import { EXCEPTION_OPERATIONS } from '#actions/exceptions/console_operations.ts';
import { getExceptionGroup } from '#actions/exceptions/get_exception_group.ts';
import { listExceptionGroups } from '#actions/exceptions/list_exception_groups.ts';
import { setExceptionStatus } from '#actions/exceptions/set_exception_status.ts';
import { getHome } from '#actions/home/get_home.ts';
import { setUpPaging } from '#actions/home/set_up_paging.ts';
import { acknowledgeIncident } from '#actions/incidents/acknowledge_incident.ts';
import { addIncidentNote } from '#actions/incidents/add_incident_note.ts';
import { answerIncidents } from '#actions/incidents/answer_incidents.ts';
import { countIncidents } from '#actions/incidents/count_incidents.ts';
import { countIncidentsByService } from '#actions/incidents/count_incidents_by_service.ts';
import { declareIncident } from '#actions/incidents/declare_incident.ts';
import { deleteIncidentNote } from '#actions/incidents/delete_incident_note.ts';
import { editIncidentNote } from '#actions/incidents/edit_incident_note.ts';
import { escalateIncident } from '#actions/incidents/escalate_incident.ts';
import { getIncident } from '#actions/incidents/get_incident.ts';
import { getIncidentContext } from '#actions/incidents/get_incident_context.ts';
import { getIncidentLinks } from '#actions/incidents/get_incident_links.ts';
import { listAssignees } from '#actions/incidents/list_assignees.ts';
import { listIncidents } from '#actions/incidents/list_incidents.ts';
import { listMovedMetrics } from '#actions/incidents/list_moved_metrics.ts';
import { reassignIncident } from '#actions/incidents/reassign_incident.ts';
import { reopenIncident } from '#actions/incidents/reopen_incident.ts';
import { resolveIncident } from '#actions/incidents/resolve_incident.ts';
import { searchIncidents } from '#actions/incidents/search_incidents.ts';
import { unacknowledgeIncident } from '#actions/incidents/unacknowledge_incident.ts';
import { createApiKey } from '#actions/keys/create_api_key.ts';
import { listApiKeys } from '#actions/keys/list_api_keys.ts';
import { revokeApiKey } from '#actions/keys/revoke_api_key.ts';
import { confirmPhone } from '#actions/me/confirm_phone.ts';
import { createPushSubscription } from '#actions/me/create_push_subscription.ts';
import { deletePushSubscription } from '#actions/me/delete_push_subscription.ts';
import { getContactCard } from '#actions/me/get_contact_card.ts';
import { getMe } from '#actions/me/get_me.ts';
import { getTestNotification } from '#actions/me/get_test_notification.ts';
import { getOwnCalendar } from '#actions/me/get_own_calendar.ts';
import { renewOwnCalendar } from '#actions/me/renew_own_calendar.ts';
import { revokeOwnCalendar } from '#actions/me/revoke_own_calendar.ts';
import { requestPhoneCode } from '#actions/me/request_phone_code.ts';
import { sendTestNotification } from '#actions/me/send_test_notification.ts';
import { setReplyPin } from '#actions/me/set_reply_pin.ts';
import { updateOwnContact } from '#actions/me/update_own_contact.ts';
import { describeLabels } from '#actions/metrics/describe_labels.ts';
import { describeMetrics } from '#actions/metrics/describe_metrics.ts';
import { listChartMarks } from '#actions/metrics/list_chart_marks.ts';
import { listExemplars } from '#actions/metrics/list_exemplars.ts';
import { listMetricNames } from '#actions/metrics/list_metric_names.ts';
import { queryMetric } from '#actions/metrics/query_metric.ts';
import { renameOrganization } from '#actions/organization/rename_organization.ts';
import { queryMetrics } from '#actions/metrics/query_metrics.ts';
import { setTraceLink } from '#actions/organization/set_trace_link.ts';
import { setSecondFactorPolicy } from '#actions/organization/set_second_factor_policy.ts';
import { acceptInvitation } from '#actions/people/accept_invitation.ts';
import { changeRole } from '#actions/people/change_role.ts';
import { createInvitation } from '#actions/people/create_invitation.ts';
import { getInvitation } from '#actions/people/get_invitation.ts';
import { listInvitations } from '#actions/people/list_invitations.ts';
import { listMembers } from '#actions/people/list_members.ts';
import { removeMember } from '#actions/people/remove_member.ts';
import { revokeInvitation } from '#actions/people/revoke_invitation.ts';
import { createEscalationPolicy } from '#actions/policies/create_escalation_policy.ts';
import { deleteEscalationPolicy } from '#actions/policies/delete_escalation_policy.ts';
import { getEscalationPolicy } from '#actions/policies/get_escalation_policy.ts';
import { previewEscalation } from '#actions/policies/preview_escalation.ts';
import { replaceEscalationPolicy } from '#actions/policies/replace_escalation_policy.ts';
import { searchEscalationPolicies } from '#actions/policies/search_escalation_policies.ts';
import { simulateEscalation } from '#actions/policies/simulate_escalation.ts';
import { updateEscalationPolicy } from '#actions/policies/update_escalation_policy.ts';
import { AGENT_OPERATIONS } from '#actions/responder/operations.ts';
import { ALERT_OPERATIONS } from '#actions/alerts/operations.ts';
import { MONITOR_OPERATIONS } from '#actions/monitors/operations.ts';
import { createAlertRule } from '#actions/rules/create_alert_rule.ts';
import { deleteAlertRule } from '#actions/rules/delete_alert_rule.ts';
import { RULE_OPERATIONS } from '#actions/rules/operations.ts';
import { updateAlertRule } from '#actions/rules/update_alert_rule.ts';
import { changeSchedule } from '#actions/schedules/change_schedule.ts';
import { createCalendarFeed } from '#actions/schedules/create_calendar_feed.ts';
import { createSchedule } from '#actions/schedules/create_schedule.ts';
import { createScheduleOverride } from '#actions/schedules/create_schedule_override.ts';
import { deleteSchedule } from '#actions/schedules/delete_schedule.ts';
import { deleteScheduleOverride } from '#actions/schedules/delete_schedule_override.ts';
import { createTeamSchedule } from '#actions/schedules/create_team_schedule.ts';
import { getCalendarFeed } from '#actions/schedules/get_calendar_feed.ts';
import { getOnCallTimeline } from '#actions/schedules/get_on_call_timeline.ts';
import { previewRotation } from '#actions/schedules/preview_rotation.ts';
import { revokeCalendarFeed } from '#actions/schedules/revoke_calendar_feed.ts';
import { swapShifts } from '#actions/schedules/swap_shifts.ts';
import { undoShiftSwap } from '#actions/schedules/undo_shift_swap.ts';
import { updateSchedule } from '#actions/schedules/update_schedule.ts';
import { whoIsOnCall } from '#actions/schedules/who_is_on_call.ts';
import { createService } from '#actions/services/create_service.ts';
import { deleteService } from '#actions/services/delete_service.ts';
import { disableCapability } from '#actions/services/disable_capability.ts';
import { enableCapability } from '#actions/services/enable_capability.ts';
import { getIngestStatus } from '#actions/services/get_ingest_status.ts';
import { getService } from '#actions/services/get_service.ts';
import { getServiceActivity } from '#actions/services/get_service_activity.ts';
import { getServiceHealth } from '#actions/services/get_service_health.ts';
import { listServices } from '#actions/services/list_services.ts';
import { revealIngestKey } from '#actions/services/reveal_ingest_key.ts';
import { rotateIngestKey } from '#actions/services/rotate_ingest_key.ts';
import { searchServices } from '#actions/services/search_services.ts';
import { editRetention } from '#actions/services/edit_retention.ts';
import { editService } from '#actions/services/edit_service.ts';
import { setRetention } from '#actions/services/set_retention.ts';
import { updateService } from '#actions/services/update_service.ts';
import { addTeamMember } from '#actions/teams/add_team_member.ts';
import { createTeam } from '#actions/teams/create_team.ts';
import { deleteTeam } from '#actions/teams/delete_team.ts';
import { getTeam } from '#actions/teams/get_team.ts';
import { listTeams } from '#actions/teams/list_teams.ts';
import { moveTeamMember } from '#actions/teams/move_team_member.ts';
import { removeTeamMember } from '#actions/teams/remove_team_member.ts';
import { searchPeopleWithoutTeam } from '#actions/teams/search_people_without_team.ts';
import { editTeamMember } from '#actions/teams/edit_team_member.ts';
import { renameTeam } from '#actions/teams/rename_team.ts';
import { searchTeamNames } from '#actions/teams/search_team_names.ts';
import { searchTeams } from '#actions/teams/search_teams.ts';
import { updateTeam } from '#actions/teams/update_team.ts';
import { updateTeamMember } from '#actions/teams/update_team_member.ts';
import { nearestActions } from '#actions/nearest_actions.ts';
import { AppError } from '#kernel/errors.ts';

/** A heading of the contract with its actions. */
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
  ...ALERT_OPERATIONS,
  getBilling,
  getHome,
  setUpPaging,
  getPagingProblems,
  removeMember,
  revealIngestKey,
  editService,
  editRetention,
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
  getIncidentLinks,
  ...AGENT_OPERATIONS,
  listMovedMetrics,
  deleteScheduleOverride,
  getOnCallTimeline,
  previewRotation,
  changeSchedule,
  createTeamSchedule,
  swapShifts,
  undoShiftSwap,
  requestPhoneCode,
  confirmPhone,
  setReplyPin,
  setSecondFactorPolicy,
  setTraceLink,
  renameOrganization,
  countIncidentsByService,
  ...RULE_OPERATIONS,
  searchServices,
  getServiceHealth,
  getServiceActivity,
  searchTeamNames,
  searchTeams,
  getTeam,
  moveTeamMember,
  renameTeam,
  editTeamMember,
  searchPeopleWithoutTeam,
  searchEscalationPolicies,
  getEscalationPolicy,
  previewEscalation,
  replaceEscalationPolicy,
  simulateEscalation,
  listMembers,
  changeRole,
  listInvitations,
  createInvitation,
  revokeInvitation,
  listApiKeys,
  createApiKey,
  revokeApiKey,
  listConnections,
  disconnectApp,
  listAuditLog,
  exportAuditLog,
  getCalendarFeed,
  createCalendarFeed,
  revokeCalendarFeed,
  getDeliveryHealth,
  getIngestStatus,
  getMe,
  getContactCard,
  getOwnCalendar,
  renewOwnCalendar,
  revokeOwnCalendar,
  updateOwnContact,
  createPushSubscription,
  deletePushSubscription,
  sendTestNotification,
  getTestNotification,
  queryMetrics,
  describeMetrics,
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

/** Finds the action of exactly this name. */
export function findAction(name: unknown): AnyAction | undefined {
  return typeof name === 'string' ? BY_NAME.get(name) : undefined;
}

/** Returns the action. Throws `unknown_action`, with the names that are close to a misspelt one. */
export function getAction(name: string): AnyAction {
  const action = findAction(name);
  if (action !== undefined) return action;
  const near = nearestActions(name, ACTIONS).map((one) => one.name);
  const hint = near.length > 0 ? `; did you mean ${near.join(' or ')}?` : '';
  throw new AppError('unknown_action', `no action is named ${JSON.stringify(name.slice(0, 100))}${hint}`);
}
