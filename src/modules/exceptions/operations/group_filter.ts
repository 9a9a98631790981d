import { type Static, Type } from 'typebox';

import { searchInput } from '#actions/list_page.ts';
import type { ActionContext } from '#actions/action_context.ts';
import { LevelName } from '#modules/exceptions/operations/view.ts';
import { IdText } from '#actions/fields.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';
import { findAssignees } from '#modules/exceptions/assignees.ts';
import { notFound } from '#kernel/errors.ts';
import type { GroupSearchFilter } from '#modules/exceptions/store/exception_group_search.ts';

const OriginText = Type.String({ minLength: 1, maxLength: 200 });

/** Filters of a list of groups, besides their status. */
export const GROUP_FILTER_FIELDS = {
  serviceId: Type.Optional(IdText),
  severity: Type.Optional(LevelName),
  environment: Type.Optional(OriginText),
  release: Type.Optional(OriginText),
  assignedTo: Type.Optional(
    Type.String({
      maxLength: 100,
      description: 'me, my_teams (or oneself), nobody, or the id of a person or a team',
    }),
  ),
  text: searchInput('part of the title, the type or the place in the code'),
};

const GroupFilterFields = Type.Object(GROUP_FILTER_FIELDS);

/** Throws `not_found` for a service that is not there. */
export async function toGroupFilter(
  { serviceId, environment, release, assignedTo, text, severity }: Static<typeof GroupFilterFields>,
  context: ActionContext,
): Promise<GroupSearchFilter> {
  const { caller, stores, exceptions, now } = context;
  const service = serviceId === undefined ? null : await stores.services.get(caller.orgId, serviceId);
  const filter = {
    serviceId: service?.id,
    severity,
    text: text?.trim() === '' ? undefined : text?.trim(),
    assignedTo: assignedTo === undefined ? undefined : await readAssignees(assignedTo, context),
  };
  if (environment === undefined && release === undefined) return { ...filter, groupIds: undefined };
  const services = await stores.exceptionSearch.listServices(caller.orgId, service?.id ?? null, now);
  const found = await exceptions.counter.listGroups(services, { environment, release });
  return { ...filter, groupIds: [...found, ...(await stores.groupMerges.listTakers(found))] };
}

/** Returns the people and teams that are meant; an empty list for nobody. Throws `not_found` for an unknown id. */
async function readAssignees(assignedTo: string, { caller, stores }: ActionContext): Promise<readonly string[]> {
  switch (assignedTo) {
    case 'nobody':
      return [];
    case 'me':
      return [callerUser(caller)];
    case 'my_teams': {
      const userId = callerUser(caller);
      const places = await stores.teams.listPlacesOf(caller.orgId, userId);
      return [userId, ...places.map(({ teamId }) => teamId)];
    }
    default: {
      const assignees = await findAssignees(stores, caller.orgId, [assignedTo]);
      if (!assignees.has(assignedTo)) throw notFound('assignedTo', 'person or team');
      return [assignedTo];
    }
  }
}
