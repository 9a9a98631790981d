import { Type } from 'typebox';

import { defineAction, LIST_LIMIT } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, nullable, StrictObject } from '#actions/fields.ts';
import { mostUrgentIncidents } from '#modules/incidents/operations/digest.ts';
import {
  IncidentView,
  StatusCountsView,
  toIncidentView,
  INCIDENT_EXAMPLE,
  INCIDENT_UNTRUSTED_TEXT,
} from '#modules/incidents/view.ts';
import { INCIDENT_STATUSES } from '#modules/incidents/decide/incident.ts';

const DAY_HOURS = 24;
const RULES_COUNTED_MAX = 100;
/** Limit on the noisiest rules in a digest for a model. */
const NOISY_TOLD = 10;

const ListedIncidentView = Type.Object({
  ...IncidentView.properties,
  ruleName: nullable(Type.String({ description: 'of ruleId; null when it was deleted, or there never was one' })),
});

export const listIncidents = defineAction({
  name: 'list_incidents',
  summary:
    'List incidents, newest first, optionally of one service or status. At most 1,000 are returned: `counts` tells how ' +
    'many there are of each status, last24Hours how many each rule opened; older open ones are found by their status.',
  guidance:
    'Use it to see what is wrong now, with status triggered or acknowledged: of all, only the newest 1,000 are returned. The source of incidentIds.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({ serviceId: Type.Optional(IdText), status: Type.Optional(Type.Enum([...INCIDENT_STATUSES])) }),
  result: Type.Object({
    incidents: Type.Array(ListedIncidentView),
    total: Type.Integer({ description: 'how many there are of the service and status asked for, also beyond the cut' }),
    counts: StatusCountsView,
    last24Hours: Type.Array(
      Type.Object({ ruleId: nullable(IdText), ruleName: nullable(Type.String()), count: Type.Integer() }),
      { description: 'incidents that were triggered in the last 24 hours by rule, the noisiest first, at most 100' },
    ),
  }),
  lists: {
    incident: ({ incidents }) =>
      incidents
        .toSorted((a, b) => Number(a.status === 'resolved') - Number(b.status === 'resolved'))
        .map(({ incidentId, number, title, serviceId, ruleId, exceptionGroupId }) => ({
          id: incidentId,
          names: [`#${number} ${title}`, title, String(number)],
          links: [serviceId, ruleId, exceptionGroupId].filter((id) => id !== null),
        })),
  },
  untrustedText: INCIDENT_UNTRUSTED_TEXT.map((field) => `incidents[].${field}`),
  aliases: ['list_alerts', 'get_alerts', 'search_incidents', 'list_open_incidents', 'get_active_incidents'],
  digest: ({ incidents, counts, total, last24Hours }) => ({
    total,
    counts,
    last24Hours: last24Hours.slice(0, NOISY_TOLD),
    incidents: mostUrgentIncidents(incidents),
  }),
  example: { serviceId: IDS.serviceId, status: 'triggered' },
  exampleResult: {
    incidents: [{ ...INCIDENT_EXAMPLE, ruleName: 'Checkout is slow' }],
    total: 1,
    counts: { triggered: 1, acknowledged: 0, resolved: 12 },
    last24Hours: [{ ruleId: IDS.ruleId, ruleName: 'Checkout is slow', count: 3 }],
  },
  async handle({ serviceId, status }, { caller, stores, now }) {
    if (serviceId !== undefined) await stores.services.get(caller.orgId, serviceId);
    const [incidents, counts, last24Hours] = await Promise.all([
      stores.incidents.list(caller.orgId, { serviceId, status }, now, LIST_LIMIT),
      stores.incidentSearch.countByStatus(caller.orgId, { serviceId }, now),
      stores.incidentSearch.countByRule(
        caller.orgId,
        { serviceId, since: now.subtract({ hours: DAY_HOURS }) },
        RULES_COUNTED_MAX,
      ),
    ]);
    const ruleIds = incidents.flatMap(({ ruleId }) => ruleId ?? []);
    const [names, listed] = await Promise.all([
      stores.alertRules.findNames(caller.orgId, [...new Set(ruleIds)]),
      stores.stepTimers.listSteps(incidents.map(({ id }) => id)),
    ]);
    const steps = Map.groupBy(listed, (step) => step.incidentId);
    const { triggered, acknowledged, resolved } = counts;
    return {
      incidents: incidents.map((incident) => ({
        ...toIncidentView(incident, steps.get(incident.id) ?? []),
        ruleName: (incident.ruleId && names.get(incident.ruleId)) ?? null,
      })),
      total: status === undefined ? triggered + acknowledged + resolved : counts[status],
      counts,
      last24Hours,
    };
  },
});
