import type { Static, TObject, TSchema } from 'typebox';

import type { OrganizationOperation, OwnAccountOperation } from '#actions/registry.ts';
import { ask } from '#console/api/http.ts';
import { isReadTogether, readTogether } from '#console/api/reads.ts';

/** Name of an operation that can be invoked within an organization. Types only: no server code is in the build. */
export type ActionName = OrganizationOperation['name'];

type Declared = { readonly input: TObject; readonly result: TSchema };
type Of<Operation, Name> =
  Extract<Operation, { readonly name: Name }> extends infer Found extends Declared ? Found : never;

export type InputOf<Name extends ActionName> = Static<Of<OrganizationOperation, Name>['input']>;
export type ResultOf<Name extends ActionName> = Static<Of<OrganizationOperation, Name>['result']>;

/** Result of an operation on a person's own account. */
export type AccountResultOf<Name extends OwnAccountOperation['name']> = Static<Of<OwnAccountOperation, Name>['result']>;

/** Incident as `get_incident` and lists return it. */
export type Incident = Omit<FoundIncident, 'serviceName' | 'answeredByName' | 'reached' | 'reachedCount'>;
export type FoundIncident = ResultOf<'search_incidents'>['incidents'][number];
export type OpenCounts = ResultOf<'count_incidents_by_service'>['services'][number];
export type IncidentCounts = ResultOf<'count_incidents'>;
export type IncidentWithLog = ResultOf<'get_incident'>;
export type Service = ResultOf<'search_services'>['services'][number];
export type ServiceWithKeys = ResultOf<'get_service'>;
export type Rule = ResultOf<'search_rules'>['rules'][number];
export type BillingMonth = ResultOf<'get_billing'>['months'][number];
export type Capability = Service['capabilities'][number];

/**
 * Invokes an action as the signed-in person, in this organization. With a signal it is a read of the page, and is
 * batched with the page's other reads.
 */
export async function invoke<Name extends ActionName>(
  orgId: string,
  action: Name,
  input: InputOf<Name>,
  signal?: AbortSignal,
): Promise<ResultOf<Name>> {
  if (signal !== undefined && isReadTogether(action)) {
    return (await readTogether(orgId, action, input, signal)) as ResultOf<Name>;
  }
  return await ask(`organizations/${orgId}/actions/${action}`, { method: 'POST', body: input, signal });
}
