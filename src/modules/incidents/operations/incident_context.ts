import { type Static, Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { isAtOrBefore, toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { ZoneClocks } from '#kernel/zone_clock.ts';
import {
  CONTEXT_FIELDS,
  MOVED_FIELDS,
  readMovedMetrics,
  readReleases,
  readStoredContext,
} from '#modules/incidents/context.ts';
import { INCIDENT_STATUSES } from '#modules/incidents/decide/incident.ts';
import { labelsOfIncident } from '#modules/incidents/decide/incident_labels.ts';
import type { LinkedIncident } from '#modules/incidents/store/suppression_store.ts';
import { isFor, nextMaintenance } from '#modules/maintenance/decide/maintenance.ts';
import { guidanceOf } from '#modules/rules/decide/kind_settings.ts';
import { GUIDANCE_FIELDS } from '#modules/rules/view.ts';

export const getIncidentContext = defineOperation({
  name: 'get_incident_context',
  summary:
    'What else is known around an incident: similar ones and how they ended, what was changed and released shortly ' +
    'before, new exceptions and other incidents at the same time.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({ incidentId: IdText }),
  result: Type.Object(CONTEXT_FIELDS),
  async handle({ incidentId }, context) {
    const { caller, stores, now } = context;
    const incident = await stores.incidents.get(caller.orgId, incidentId, now);
    const [stored, releases] = await Promise.all([
      readStoredContext(incident, context),
      readReleases(incident, context),
    ]);
    return { ...stored, ...releases };
  },
});

const CHILDREN_SHOWN = 50;

const LinkedView = Type.Object({
  incidentId: IdText,
  number: Type.Integer(),
  title: Type.String(),
  status: Type.Enum([...INCIDENT_STATUSES]),
  triggeredAt: Timestamp,
});

export const getLinkedIncidents = defineOperation({
  name: 'get_linked_incidents',
  summary:
    'What an incident leads to: its rule with description and runbook, the incident that its cause opened since, which one pages for it, for which others it pages, until when its pages wait, and which maintenance windows of its service, rule or labels are in effect.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({ incidentId: IdText }),
  result: Type.Object({
    rule: nullable(
      Type.Object(
        { ruleId: IdText, name: Type.String(), ...GUIDANCE_FIELDS },
        { description: 'as it is now; null when it was deleted, or no rule opened the incident' },
      ),
    ),
    later: nullable(LinkedView),
    laterCount: Type.Integer({ description: 'incidents that the same cause has opened since; `later` is the newest' }),
    parent: nullable(LinkedView),
    children: Type.Array(LinkedView, { description: `open ones first, then the newest; at most ${CHILDREN_SHOWN}` }),
    childCount: Type.Integer(),
    suppressedUntil: nullable(
      Type.String({ format: 'date-time', description: 'its pages began, or begin, at the end of a maintenance' }),
    ),
    maintenance: Type.Array(
      Type.Object({ maintenanceId: IdText, name: Type.String(), startsAt: Timestamp, endsAt: Timestamp }),
      { description: 'in effect now' },
    ),
  }),
  async handle({ incidentId }, { stores, caller: { orgId }, now }) {
    const incident = await stores.incidents.get(orgId, incidentId, now);
    const { serviceId, ruleId, parentId, suppressedUntil } = incident;
    const [parent] = parentId === null ? [] : await stores.suppression.listLinked(orgId, { ids: [parentId] }, 1);
    const later = await stores.incidentContext.findLater(incident);
    const children = await stores.suppression.listLinked(orgId, { parentId: incident.id }, CHILDREN_SHOWN);
    const childCount =
      children.length < CHILDREN_SHOWN ? children.length : await stores.suppression.countChildren(incident.id);
    const rule = ruleId === null ? undefined : (await stores.ruleSearch.findAll(orgId, [ruleId])).get(ruleId);
    const subject = { serviceId, ruleId, labels: labelsOfIncident(incident, rule) };
    const windows = (await stores.maintenance.list(orgId)).filter((window) => isFor(window, subject));
    const clocks = new ZoneClocks();
    return {
      rule: rule === undefined ? null : { ruleId: rule.id, name: rule.name, ...guidanceOf(rule.settings) },
      later: later === null ? null : toView(later),
      laterCount: later === null ? 0 : later.count,
      parent: parent === undefined ? null : toView(parent),
      children: children.map(toView),
      childCount,
      suppressedUntil: toTimestampOrNull(suppressedUntil),
      maintenance: windows.flatMap((window) => {
        const next = nextMaintenance(window, now, clocks);
        if (next === null || !isAtOrBefore(next.startsAt, now)) return [];
        const { startsAt, endsAt } = next;
        return {
          maintenanceId: window.id,
          name: window.name,
          startsAt: toTimestamp(startsAt),
          endsAt: toTimestamp(endsAt),
        };
      }),
    };
  },
});

function toView({ id, number, title, status, triggeredAt }: LinkedIncident): Static<typeof LinkedView> {
  return { incidentId: id, number, title, status, triggeredAt: toTimestamp(triggeredAt) };
}

export const listMovedMetrics = defineOperation({
  name: 'list_moved_metrics',
  summary:
    'List the metrics of the service that left their usual range around the time of an incident, furthest first.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({ incidentId: IdText }),
  result: Type.Object(MOVED_FIELDS),
  async handle({ incidentId }, context) {
    const { caller, stores, now } = context;
    return await readMovedMetrics(await stores.incidents.get(caller.orgId, incidentId, now), context);
  },
});
