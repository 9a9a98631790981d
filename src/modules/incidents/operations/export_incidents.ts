import { Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/fields.ts';
import { StrictObject, type FileAnswer } from '#kernel/action.ts';
import { toCell } from '#kernel/csv.ts';
import { type Temporal, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { actorName } from '#modules/incidents/decide/incident_actor.ts';
import { IncidentFilterFields, STATUSES_OF, toIncidentFilter } from '#modules/incidents/operations/search_incidents.ts';
import type { IncidentFilter, IncidentPlace } from '#modules/incidents/store/incident_search.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';

const COLUMNS = [
  'number',
  'status',
  'severity',
  'title',
  'service',
  'kind',
  'triggeredAt',
  'acknowledgedAt',
  'acknowledgedBy',
  'secondsToAcknowledge',
  'resolvedAt',
  'resolvedBy',
  'secondsToResolve',
  'occurrences',
  'commander',
  'incidentId',
  'serviceId',
  'ruleId',
  'exceptionGroupId',
] as const;

const PAGE = 500;
/** Limit on the incidents of a file; what is beyond it is said in its last line. */
const EXPORTED_MAX = 50_000;

export const exportIncidents = defineOperation({
  name: 'export_incidents',
  summary: `Download the incidents that match as CSV, in the order of their list, at most ${EXPORTED_MAX.toLocaleString('en')}.`,
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({
    ...IncidentFilterFields,
    status: Type.Optional(Type.Enum(['open', 'triggered', 'acknowledged', 'resolved', 'all'])),
  }),
  result: Type.Unsafe<FileAnswer>({ description: 'a file' }),
  sends: ['text/csv'],
  example: {
    status: 'resolved',
    serviceId: EXAMPLE_IDS.serviceId,
    ruleId: EXAMPLE_IDS.ruleId,
    severity: 'error',
    ownedBy: EXAMPLE_IDS.teamId,
    text: 'latency',
  },
  async handle({ status = 'all', ...filter }, context) {
    const { caller, stores, now } = context;
    if (filter.serviceId !== undefined) await stores.services.get(caller.orgId, filter.serviceId);
    if (filter.ruleId !== undefined) await stores.alertRules.get(caller.orgId, filter.ruleId);
    const day = toTimestamp(now).slice(0, 'YYYY-MM-DD'.length);
    const content = linesOf(await toIncidentFilter(filter, context), STATUSES_OF[status], context);
    return { name: `incidents-${day}.csv`, mediaType: 'text/csv', content };
  },
});

/** Yields RFC 4180, a page of incidents at a time, with a line of names at the top. */
async function* linesOf(
  filter: IncidentFilter,
  statuses: (typeof STATUSES_OF)[keyof typeof STATUSES_OF],
  context: ActionContext,
): AsyncGenerator<string> {
  const { caller, stores, now } = context;
  yield `${COLUMNS.join(',')}\r\n`;
  let after: IncidentPlace | null = null;
  for (let left = EXPORTED_MAX; left > 0; left -= PAGE) {
    const places: IncidentPlace[] = await stores.incidentSearch.listPlaces(
      caller.orgId,
      filter,
      statuses,
      { after, limit: PAGE },
      now,
    );
    yield await pageOf(places, context);
    after = places.at(-1) ?? null;
    if (after === null || places.length < PAGE) return;
  }
  yield `${toCell(`Only the first ${EXPORTED_MAX} incidents are in this file: narrow the filter`)}\r\n`;
}

async function pageOf(places: readonly IncidentPlace[], { caller, stores }: ActionContext): Promise<string> {
  const rows = await stores.incidents.findAll(
    caller.orgId,
    places.map(({ id }) => id),
  );
  const incidents = places.flatMap(({ id }) => rows.get(id) ?? []);
  const people = await stores.people.listPeople(caller.orgId, [...new Set(incidents.flatMap(peopleOf))]);
  const nameOf = (userId: string) => people.get(userId)?.name ?? 'somebody who has left';
  return incidents
    .map((incident) => {
      const cells = cellsOf(incident, nameOf);
      return `${COLUMNS.map((column) => toCell(cells[column] === null ? null : String(cells[column]))).join(',')}\r\n`;
    })
    .join('');
}

function peopleOf({ acknowledgedBy, resolvedBy, commanderId }: IncidentRow): string[] {
  return [acknowledgedBy, resolvedBy]
    .flatMap((by) => (by !== null && 'userId' in by ? [by.userId] : []))
    .concat(commanderId ?? []);
}

function cellsOf(
  incident: IncidentRow,
  nameOf: (userId: string) => string,
): Readonly<Record<(typeof COLUMNS)[number], string | number | null>> {
  const { id, serviceName, triggeredAt, acknowledgedAt, acknowledgedBy, resolvedAt, resolvedBy, commanderId } =
    incident;
  const { number, status, severity, title, kind, occurrences, serviceId, ruleId, exceptionGroupId } = incident;
  const seconds = (until: Temporal.Instant | null) =>
    until === null ? null : Math.round(until.since(triggeredAt).total('seconds'));
  return {
    number,
    status,
    severity,
    title,
    service: serviceName,
    kind,
    triggeredAt: toTimestamp(triggeredAt),
    acknowledgedAt: toTimestampOrNull(acknowledgedAt),
    acknowledgedBy: acknowledgedBy === null ? null : actorName(acknowledgedBy, nameOf),
    secondsToAcknowledge: seconds(acknowledgedAt),
    resolvedAt: toTimestampOrNull(resolvedAt),
    resolvedBy: resolvedBy === null ? null : actorName(resolvedBy, nameOf),
    secondsToResolve: seconds(resolvedAt),
    occurrences,
    commander: commanderId === null ? null : nameOf(commanderId),
    incidentId: id,
    serviceId,
    ruleId,
    exceptionGroupId,
  };
}
