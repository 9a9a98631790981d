import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, nullable, StrictObject } from '#actions/fields.ts';
import type { ShownPerson } from '#modules/accounts/store/people_store.ts';
import { PersonColorNumber } from '#modules/accounts/view.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';
import { IncidentView, StatusCountsView, toIncidentView } from '#modules/incidents/view.ts';
import { pageInput, pageOf, searchInput } from '#actions/list_page.ts';
import { INCIDENT_STATUSES, type IncidentStatus } from '#modules/incidents/decide/incident.ts';
import { REACH_OUTCOMES, whoWasReached } from '#modules/incidents/decide/reasons.ts';
import { invalidInput } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { fromEpochMilliseconds } from '#kernel/time.ts';
import type { IncidentFilter, IncidentPlace } from '#modules/incidents/store/incident_search.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import { OWNED_BY, readOwningTeams } from '#modules/teams/view.ts';

/** Filters of the console's lists and counts of incidents. */
export const IncidentFilterFields = {
  serviceId: Type.Optional(IdText),
  ruleId: Type.Optional(Type.String({ description: 'that this rule has opened, or that stand for it among others' })),
  severity: Type.Optional(Type.Enum([...LEVELS])),
  ownedBy: OWNED_BY,
  text: searchInput('part of the title, of #number or of the name of the service'),
};

export const STATUSES_OF = {
  open: ['triggered', 'acknowledged'],
  triggered: ['triggered'],
  acknowledged: ['acknowledged'],
  resolved: ['resolved'],
  all: INCIDENT_STATUSES,
} as const satisfies Record<string, readonly IncidentStatus[]>;

const LIMIT = 50;
const LIMIT_MAX = 200;

const Name = nullable(Type.String({ description: 'null for somebody who has left' }));

const FoundIncidentView = Type.Object({
  ...IncidentView.properties,
  serviceName: Type.String(),
  answeredByName: Name,
  answeredByColor: nullable(PersonColorNumber),
  reached: nullable(
    Type.Object({
      userId: IdText,
      name: Name,
      color: nullable(PersonColorNumber),
      outcome: Type.Enum([...REACH_OUTCOMES]),
    }),
  ),
  reachedCount: Type.Integer({ description: 'how many people were paged' }),
});

type FoundIncident = Static<typeof FoundIncidentView>;

/** Lists incidents for the console with paging, so that each can be reached. */
export const searchIncidents = defineOperation({
  name: 'search_incidents',
  summary:
    'Find incidents page by page: triggered ones first, then acknowledged, then resolved; the newest first in each.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({
    ...IncidentFilterFields,
    status: Type.Optional(Type.Enum(['open', 'triggered', 'acknowledged', 'resolved', 'all'])),
    isMine: Type.Optional(
      Type.Boolean({ description: 'of the acknowledged ones, only those that the caller acknowledged' }),
    ),
    incidentIds: Type.Optional(
      Type.Array(IdText, {
        maxItems: LIMIT_MAX,
        description: 'no others; one that is not there, or does not match, is left out',
      }),
    ),
    ...pageInput(LIMIT, LIMIT_MAX),
  }),
  result: Type.Object({ incidents: Type.Array(FoundIncidentView), nextCursor: nullable(Type.String()) }),
  example: {
    status: 'open',
    serviceId: EXAMPLE_IDS.serviceId,
    ruleId: EXAMPLE_IDS.ruleId,
    severity: 'error',
    ownedBy: EXAMPLE_IDS.teamId,
    text: 'latency',
    isMine: false,
    // Limits the results to these ids; unknown ones are left out.
    incidentIds: ['incident_01kdwm4a1b2c3d4e5f6g7h8j9m'],
    cursor: `triggered.1767348000000.${EXAMPLE_IDS.incidentId}`,
    limit: 20,
  },
  async handle({ status = 'all', isMine = false, incidentIds, cursor, limit = LIMIT, ...filter }, context) {
    const { caller, stores, now } = context;
    if (filter.serviceId !== undefined) await stores.services.get(caller.orgId, filter.serviceId);
    if (filter.ruleId !== undefined) await stores.alertRules.get(caller.orgId, filter.ruleId);
    const places = await stores.incidentSearch.listPlaces(
      caller.orgId,
      {
        ...(await toIncidentFilter(filter, context)),
        incidentIds,
        ...(isMine && { acknowledgedBy: userIdOf(context) }),
      },
      STATUSES_OF[status],
      { after: cursor === undefined ? null : parseCursor(cursor), limit: limit + 1 },
      now,
    );
    const { shown, nextCursor } = pageOf(places, limit, cursorOf);
    return { incidents: await readViews(shown, context), nextCursor };
  },
});

function userIdOf({ caller: { actor } }: ActionContext): Id<'user'> | undefined {
  return actor.kind === 'user' ? actor.userId : undefined;
}

async function readViews(
  places: readonly IncidentPlace[],
  { caller: { orgId }, stores, installation }: ActionContext,
): Promise<FoundIncident[]> {
  const [rows, timers] = await Promise.all([
    stores.incidents.findAll(
      orgId,
      places.map(({ id }) => id),
    ),
    stores.stepTimers.listSteps(places.map(({ id }) => id)),
  ]);
  const incidents = places.flatMap(({ id }) => rows.get(id) ?? []);
  const steps = Map.groupBy(timers, ({ incidentId }) => incidentId);
  const waiting = incidents.filter(({ status }) => status === 'triggered').map(({ id }) => id);
  const listed = await stores.notifications.listPagesOf(waiting, installation.simulatedIds);
  const pages = Map.groupBy(listed, ({ incidentId }) => incidentId);
  const reached = new Map(waiting.map((id) => [id, whoWasReached(pages.get(id) ?? [])]));
  const people = await stores.people.listPeople(orgId, [
    ...incidents.flatMap((incident) => answererOf(incident) ?? []),
    ...[...reached.values()].flatMap(([first]) => first?.userId ?? []),
  ]);
  return incidents.map((incident) => {
    const [first, ...others] = reached.get(incident.id) ?? [];
    const answerer = people.get(answererOf(incident) ?? '');
    return {
      ...toIncidentView(incident, steps.get(incident.id) ?? []),
      serviceName: incident.serviceName,
      answeredByName: answerer?.name ?? null,
      answeredByColor: answerer?.color ?? null,
      reached: first === undefined ? null : { ...first, ...shownPerson(people.get(first.userId)) },
      reachedCount: first === undefined ? 0 : others.length + 1,
    };
  });
}

function shownPerson(person: ShownPerson | undefined): { name: string | null; color: number | null } {
  return { name: person?.name ?? null, color: person?.color ?? null };
}

/** Returns the person who has answered it last, if it was a person. */
function answererOf({ status, acknowledgedBy, resolvedBy }: IncidentRow): string | null {
  const by = status === 'resolved' ? resolvedBy : acknowledgedBy;
  return by !== null && 'userId' in by ? by.userId : null;
}

function cursorOf({ status, at, id }: IncidentPlace): string {
  return `${status}.${at.epochMilliseconds}.${id}`;
}

function parseCursor(cursor: string): IncidentPlace {
  const [, name, at, id] = /^([a-z]+)\.(\d{1,13})\.(incident_\w{26})$/.exec(cursor) ?? [];
  const status = INCIDENT_STATUSES.find((candidate) => candidate === name);
  if (status === undefined || at === undefined || id === undefined) {
    throw invalidInput([{ path: 'cursor', message: 'must be the nextCursor of the page before' }]);
  }
  return { status, at: fromEpochMilliseconds(Number(at)), id };
}

/** Throws `not_found` for a team that is not there. */
export async function toIncidentFilter(
  { serviceId, ruleId, severity, ownedBy, text }: Static<ReturnType<typeof Type.Object<typeof IncidentFilterFields>>>,
  context: ActionContext,
): Promise<IncidentFilter> {
  const ownedByTeams = await readOwningTeams(ownedBy, context);
  return { serviceId, ruleId, severity, ownedByTeams, text: text?.trim() === '' ? undefined : text?.trim() };
}

export const countIncidents = defineOperation({
  name: 'count_incidents',
  summary: 'Count incidents by their status.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject(IncidentFilterFields),
  result: StatusCountsView,
  example: {
    serviceId: EXAMPLE_IDS.serviceId,
    ruleId: EXAMPLE_IDS.ruleId,
    severity: 'error',
    ownedBy: EXAMPLE_IDS.teamId,
    text: 'latency',
  },
  async handle(filter, context) {
    const { caller, stores, now } = context;
    if (filter.serviceId !== undefined) await stores.services.get(caller.orgId, filter.serviceId);
    if (filter.ruleId !== undefined) await stores.alertRules.get(caller.orgId, filter.ruleId);
    return await stores.incidentSearch.countByStatus(caller.orgId, await toIncidentFilter(filter, context), now);
  },
});

export const countIncidentsByService = defineOperation({
  name: 'count_incidents_by_service',
  summary: 'Count the open incidents of each service that has any.',
  permission: 'oncall:view',
  effect: 'read',
  result: Type.Object({
    services: Type.Array(Type.Object({ serviceId: IdText, triggered: Type.Integer(), acknowledged: Type.Integer() })),
  }),
  async handle(_input, { caller, stores }) {
    return { services: await stores.incidentSearch.countOpenByService(caller.orgId) };
  },
});
