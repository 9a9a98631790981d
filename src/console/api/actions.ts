import type { Static, TObject, TSchema } from 'typebox';

import type { setSecondFactorPolicy } from '#actions/organization/set_second_factor_policy.ts';
import type { getBilling } from '#actions/billing/get_billing.ts';
import type { confirmPhone } from '#actions/me/confirm_phone.ts';
import type { requestPhoneCode } from '#actions/me/request_phone_code.ts';
import type { setReplyPin } from '#actions/me/set_reply_pin.ts';
import type { getIncident } from '#actions/incidents/get_incident.ts';
import type { acknowledgeIncident } from '#actions/incidents/acknowledge_incident.ts';
import type { reopenIncident } from '#actions/incidents/reopen_incident.ts';
import type { unacknowledgeIncident } from '#actions/incidents/unacknowledge_incident.ts';
import type { countIncidentsByService } from '#actions/incidents/count_incidents_by_service.ts';
import type { countIncidents } from '#actions/incidents/count_incidents.ts';
import type { resolveIncident } from '#actions/incidents/resolve_incident.ts';
import type { searchIncidents } from '#actions/incidents/search_incidents.ts';
import type { getExceptionGroup } from '#actions/exceptions/get_exception_group.ts';
import type { queryMetric } from '#actions/metrics/query_metric.ts';
import type { createScheduleOverride } from '#actions/schedules/create_schedule_override.ts';
import type { deleteScheduleOverride } from '#actions/schedules/delete_schedule_override.ts';
import type { whoIsOnCall } from '#actions/schedules/who_is_on_call.ts';
import type { removeMember } from '#actions/people/remove_member.ts';
import type { createService } from '#actions/services/create_service.ts';
import type { deleteService } from '#actions/services/delete_service.ts';
import type { disableCapability } from '#actions/services/disable_capability.ts';
import type { enableCapability } from '#actions/services/enable_capability.ts';
import type { getService } from '#actions/services/get_service.ts';
import type { revealIngestKey } from '#actions/services/reveal_ingest_key.ts';
import type { rotateIngestKey } from '#actions/services/rotate_ingest_key.ts';
import type { searchServices } from '#actions/services/search_services.ts';
import type { setRetention } from '#actions/services/set_retention.ts';
import type { updateService } from '#actions/services/update_service.ts';
import type { getSetupProgress } from '#actions/setup/get_setup_progress.ts';
import type { findTeams } from '#actions/teams/find_teams.ts';
import type { listTeams } from '#actions/teams/list_teams.ts';
import { ask } from '#console/api/http.ts';

/** The actions and own operations that the console invokes, by name. Only types: nothing of the server is in the build. */
interface Actions {
  search_incidents: typeof searchIncidents;
  count_incidents: typeof countIncidents;
  count_incidents_by_service: typeof countIncidentsByService;
  get_incident: typeof getIncident;
  acknowledge_incident: typeof acknowledgeIncident;
  resolve_incident: typeof resolveIncident;
  reopen_incident: typeof reopenIncident;
  unacknowledge_incident: typeof unacknowledgeIncident;
  get_exception_group: typeof getExceptionGroup;
  query_metric: typeof queryMetric;
  create_schedule_override: typeof createScheduleOverride;
  delete_schedule_override: typeof deleteScheduleOverride;
  who_is_on_call: typeof whoIsOnCall;
  search_services: typeof searchServices;
  get_service: typeof getService;
  create_service: typeof createService;
  update_service: typeof updateService;
  delete_service: typeof deleteService;
  enable_capability: typeof enableCapability;
  disable_capability: typeof disableCapability;
  set_retention: typeof setRetention;
  rotate_ingest_key: typeof rotateIngestKey;
  list_teams: typeof listTeams;
  get_setup_progress: typeof getSetupProgress;
  find_teams: typeof findTeams;
  get_billing: typeof getBilling;
  set_second_factor_policy: typeof setSecondFactorPolicy;
  request_phone_code: typeof requestPhoneCode;
  confirm_phone: typeof confirmPhone;
  set_reply_pin: typeof setReplyPin;
  reveal_ingest_key: typeof revealIngestKey;
  remove_member: typeof removeMember;
}

export type ActionName = keyof Actions;

type Declared = { readonly input: TObject; readonly result: TSchema };
type Of<Name extends ActionName> = Actions[Name] extends infer Action extends Declared ? Action : never;

export type InputOf<Name extends ActionName> = Static<Of<Name>['input']>;
export type ResultOf<Name extends ActionName> = Static<Of<Name>['result']>;

/** As `get_incident` and lists show it. */
export type Incident = Omit<FoundIncident, 'serviceName' | 'answeredByName' | 'reached' | 'reachedCount'>;
export type FoundIncident = ResultOf<'search_incidents'>['incidents'][number];
export type OpenCounts = ResultOf<'count_incidents_by_service'>['services'][number];
export type IncidentCounts = ResultOf<'count_incidents'>;
export type IncidentWithLog = ResultOf<'get_incident'>;
export type Service = ResultOf<'search_services'>['services'][number];
export type ServiceWithKeys = ResultOf<'get_service'>;
export type BillingMonth = ResultOf<'get_billing'>['months'][number];
export type Capability = Service['capabilities'][number];

/** Invokes an action as the signed-in person, in this organization. */
export async function invoke<Name extends ActionName>(
  orgId: string,
  action: Name,
  input: InputOf<Name>,
  signal?: AbortSignal,
): Promise<ResultOf<Name>> {
  return await ask(`organizations/${orgId}/actions/${action}`, { method: 'POST', body: input, signal });
}
