import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { parsePeriod } from '#modules/metrics/chart.ts';
import { INCIDENT_STATUSES } from '#modules/incidents/decide/incident.ts';
import { listNewReleases } from '#modules/releases/deploys.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';

const SERVICES_MAX = 50;
const MARKS_MAX = 100;

/** Lists the events that charts mark besides the values. */
export const listChartMarks = defineOperation({
  name: 'list_chart_marks',
  summary: 'List the incidents of some services in a period, the releases that were first seen in it, and the deploys.',
  permission: 'oncall:view',
  effect: 'read',
  input: StrictObject({ serviceIds: Type.Array(IdText, { maxItems: SERVICES_MAX }), from: Timestamp, to: Timestamp }),
  result: Type.Object({
    incidents: Type.Array(
      Type.Object({
        incidentId: IdText,
        number: Type.Integer(),
        title: Type.String(),
        status: Type.Enum([...INCIDENT_STATUSES]),
        serviceId: IdText,
        triggeredAt: Timestamp,
        resolvedAt: nullable(Timestamp),
      }),
      { description: `open at some time of the period, the newest ${MARKS_MAX}` },
    ),
    releases: Type.Array(Type.Object({ release: Type.String(), serviceId: IdText, at: Timestamp }), {
      description: `whose first exception was in the period, the newest ${MARKS_MAX}`,
    }),
    deploys: Type.Array(
      Type.Object({ release: Type.String(), environment: Type.String(), serviceId: IdText, at: Timestamp }),
      { description: `the newest ${MARKS_MAX}` },
    ),
  }),
  // Unknown ids are left out.
  example: {
    serviceIds: ['service_01k9z8e4rnf7ktv2x5m6w0abqe'],
    from: '2027-02-03T01:00:00.000Z',
    to: '2027-02-03T02:00:00.000Z',
  },
  async handle({ serviceIds, from, to }, { caller, stores, exceptions, now }) {
    const period = parsePeriod(from, to);
    const services = await stores.services.search(
      caller.orgId,
      { text: undefined, serviceIds },
      { after: null, limit: SERVICES_MAX },
    );
    const ids = services.map(({ id }) => id);
    if (ids.length === 0) return { incidents: [], releases: [], deploys: [] };
    const [incidents, releases, deploys] = await Promise.all([
      stores.incidentSearch.listDuring(caller.orgId, ids, period, MARKS_MAX, now),
      listNewReleases(ids, period, MARKS_MAX, { stores, exceptions }),
      stores.releases.listDeploys(caller.orgId, { serviceIds: ids, ...period }, MARKS_MAX),
    ]);
    return {
      incidents: incidents.map(({ id, triggeredAt, resolvedAt, ...incident }) => ({
        ...incident,
        incidentId: id,
        triggeredAt: toTimestamp(triggeredAt),
        resolvedAt: toTimestampOrNull(resolvedAt),
      })),
      releases: releases.map(({ at, ...release }) => ({ ...release, at: toTimestamp(at) })),
      deploys: deploys.map(({ release, environment, serviceId, finishedAt }) => ({
        release,
        environment,
        serviceId,
        at: toTimestamp(finishedAt),
      })),
    };
  },
});
