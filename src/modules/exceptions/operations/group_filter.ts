import { type Static, Type } from 'typebox';

import { searchInput } from '#actions/list_page.ts';
import type { ActionContext } from '#actions/action_context.ts';
import { LevelName } from '#modules/exceptions/operations/view.ts';
import { IdText } from '#actions/fields.ts';
import { callerUser } from '#modules/accounts/view.ts';
import { findAssignees } from '#modules/exceptions/assignees.ts';
import { parseSearchQuery, QUERY_LENGTH_MAX, searchQueryFaults } from '#modules/exceptions/decide/search_query.ts';
import { type Fault, invalidInput, notFound } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { GroupSearchFilter } from '#modules/exceptions/store/exception_group_search.ts';

const OriginText = Type.String({ minLength: 1, maxLength: 200 });

/** Filters of a list of groups, besides their status. */
export const GROUP_FILTER_FIELDS = {
  serviceId: Type.Optional(IdText),
  severity: Type.Optional(LevelName),
  environment: Type.Optional(OriginText),
  release: Type.Optional(OriginText),
  newInRelease: Type.Optional(Type.String({ ...OriginText, description: 'release of the first event of a group' })),
  assignedTo: Type.Optional(
    Type.String({
      maxLength: 100,
      description:
        'me, my_teams (or oneself), nobody, or the id of a person or a team; of a team also what nobody works on in services that it owns',
    }),
  ),
  text: searchInput('part of the title, the type or the place in the code'),
  query: Type.Optional(
    Type.String({
      maxLength: QUERY_LENGTH_MAX,
      description:
        'conditions on one event, and text as in `text`: `user:42 env:prod release:1.2 file:checkout.ts tag.customer:acme "declined"`; also url, transaction, message, and new:RELEASE for groups that began in it',
    }),
  ),
};

const GroupFilterFields = Type.Object(GROUP_FILTER_FIELDS);

/** Groups that are meant, and the time since when events were looked into; null if all that are kept were. */
interface FoundFilter {
  readonly filter: GroupSearchFilter;
  readonly searchedSince: Temporal.Instant | null;
}

/** Returns what is wrong with the filter beyond its shape. */
export function groupFilterFaults(fields: unknown, path = ''): Fault[] {
  if (typeof fields !== 'object' || fields === null || !('query' in fields)) return [];
  return typeof fields.query === 'string' ? searchQueryFaults(`${path}query`, fields.query) : [];
}

/** Throws `not_found` for a service that is not there. */
export async function toGroupFilter(
  { serviceId, newInRelease, assignedTo, severity, ...searched }: Static<typeof GroupFilterFields>,
  context: ActionContext,
): Promise<FoundFilter> {
  const { caller, stores } = context;
  const service = serviceId === undefined ? null : await stores.services.get(caller.orgId, serviceId);
  const { query, fault } = parseSearchQuery(searched.query ?? '');
  if (fault !== null) throw invalidInput([{ path: 'query', message: fault }]);
  const words = [searched.text?.trim() ?? '', query.text].filter((text) => text !== '');
  const { groupIds, searchedSince } = await findByEvents({ ...searched, ...query }, service?.id ?? null, context);
  const assignees = assignedTo === undefined ? undefined : await readAssignees(assignedTo, context);
  const filter = {
    serviceId: service?.id,
    severity,
    text: words.length === 0 ? undefined : words.join(' '),
    firstRelease: query.newIn ?? newInRelease,
    assignedTo: assignees,
    ownedByTeams: assignees?.filter((id): id is Id<'team'> => id.startsWith('team_')),
    groupIds,
  };
  return { filter, searchedSince };
}

type EventConditions = Pick<Static<typeof GroupFilterFields>, 'environment' | 'release'> &
  Pick<NonNullable<ReturnType<typeof parseSearchQuery>['query']>, 'conditions'>;

/** Finds the groups that have an event as it is asked for; undefined where nothing is asked of events. */
async function findByEvents(
  { environment, release, conditions }: EventConditions,
  serviceId: Id<'service'> | null,
  { caller, stores, exceptions, now }: ActionContext,
): Promise<{ groupIds: readonly Id<'group'>[] | undefined; searchedSince: Temporal.Instant | null }> {
  const isOfOrigin = environment !== undefined || release !== undefined;
  if (!isOfOrigin && conditions.length === 0) return { groupIds: undefined, searchedSince: null };
  const services = await stores.exceptionSearch.listServices(caller.orgId, serviceId, now);
  if (conditions.length === 0) {
    const groupIds = await exceptions.counter.listGroups(services, { environment, release });
    return { groupIds: [...groupIds, ...(await stores.groupMerges.listTakers(groupIds))], searchedSince: null };
  }
  const { groupIds, since } = await exceptions.search.find(services, conditions, { environment, release });
  return { groupIds: [...groupIds, ...(await stores.groupMerges.listTakers(groupIds))], searchedSince: since };
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
