import { type Static, Type } from 'typebox';

import { searchInput } from '#actions/list_page.ts';
import type { ActionContext } from '#actions/action_context.ts';
import { LevelName } from '#modules/exceptions/operations/view.ts';
import { IdText } from '#actions/fields.ts';
import type { GroupSearchFilter } from '#modules/exceptions/store/exception_group_search.ts';

const OriginText = Type.String({ minLength: 1, maxLength: 200 });

/** Filters of a list of groups, besides their status. */
export const GROUP_FILTER_FIELDS = {
  serviceId: Type.Optional(IdText),
  severity: Type.Optional(LevelName),
  environment: Type.Optional(OriginText),
  release: Type.Optional(OriginText),
  text: searchInput('part of the title, the type or the place in the code'),
};

const GroupFilterFields = Type.Object(GROUP_FILTER_FIELDS);

/** Throws `not_found` for a service that is not there. */
export async function toGroupFilter(
  { serviceId, environment, release, text, severity }: Static<typeof GroupFilterFields>,
  { caller, stores, exceptions, now }: ActionContext,
): Promise<GroupSearchFilter> {
  const service = serviceId === undefined ? null : await stores.services.get(caller.orgId, serviceId);
  const filter = { serviceId: service?.id, severity, text: text?.trim() === '' ? undefined : text?.trim() };
  if (environment === undefined && release === undefined) return { ...filter, groupIds: undefined };
  const services = await stores.exceptionSearch.listServices(caller.orgId, service?.id ?? null, now);
  const found = await exceptions.counter.listGroups(services, { environment, release });
  return { ...filter, groupIds: [...found, ...(await stores.groupMerges.listTakers(found))] };
}
