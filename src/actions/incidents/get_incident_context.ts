import { type Static, Type } from 'typebox';

import { type ActionContext, defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { CLOSED, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { INCIDENT_STATUSES } from '#core/incidents/incident.ts';
import { actorName } from '#core/incidents/incident_actor.ts';
import { durationsOf } from '#core/incidents/similar.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import type { IncidentRow } from '#storage/postgres/incident_store.ts';

const SIMILAR_DAYS = 90;
const SIMILAR_READ = 200;
const SIMILAR_SHOWN = 5;
const CHANGES_SHOWN = 20;
const SHOWN = 10;
const AROUND_MINUTES = 15;
/** What somebody has changed shows later than it was done. */
const CHANGES_BEFORE_MINUTES = 120;
/** The audit log has them too, but they change nothing. */
const CREDENTIAL_READS = ['get_service', 'reveal_ingest_key'];
const RULES_MAX = 1_000;

const Listed = {
  incidentId: IdText,
  number: Type.Integer(),
  title: Type.String(),
  status: Type.Enum([...INCIDENT_STATUSES]),
  triggeredAt: Timestamp,
};

const ContextView = Type.Object({
  similar: Type.Object({
    count: Type.Integer({ description: `in the last ${SIMILAR_DAYS} days, counted up to ${SIMILAR_READ}` }),
    medianSecondsToAcknowledge: nullable(Type.Integer()),
    medianSecondsToResolve: nullable(Type.Integer()),
    incidents: Type.Array(
      Type.Object({
        ...Listed,
        resolvedAt: nullable(Timestamp),
        resolvedBy: nullable(Type.String({ description: 'in words' })),
      }),
    ),
  }),
  changes: Type.Array(
    Type.Object({
      at: Timestamp,
      action: Type.String(),
      by: Type.String({ description: 'in words' }),
      target: IdText,
      targetName: nullable(Type.String()),
    }),
    { description: 'of the service, its rules and the policy, from two hours before the trigger; newest first' },
  ),
  newGroups: Type.Array(
    Type.Object({
      groupId: IdText,
      title: Type.String(),
      level: Type.String(),
      serviceName: Type.String(),
      release: nullable(Type.String()),
      at: Timestamp,
    }),
  ),
  releases: Type.Array(Type.Object({ release: Type.String(), at: Timestamp }), {
    description: 'of the service, whose first exception came from two hours before the trigger on; newest first',
  }),
  neighbours: Type.Array(Type.Object({ ...Listed, serviceName: Type.String() }), {
    description: 'other incidents that opened within a quarter of an hour',
  }),
});

export const getIncidentContext = defineAction({
  name: 'get_incident_context',
  consoleOnly: true,
  summary:
    'What else is known around an incident: similar ones and how they ended, what was changed and released shortly ' +
    'before, new exceptions and other incidents at the same time.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({ incidentId: IdText }, CLOSED),
  result: ContextView,
  example: { incidentId: EXAMPLE_IDS.incidentId },
  async handle({ incidentId }, context) {
    const { caller, stores, exceptions, now } = context;
    const incident = await stores.incidents.get(caller.orgId, incidentId, now);
    const around = {
      from: incident.triggeredAt.subtract({ minutes: AROUND_MINUTES }),
      to: incident.triggeredAt.add({ minutes: AROUND_MINUTES }),
    };
    const before = incident.triggeredAt.subtract({ minutes: CHANGES_BEFORE_MINUTES });
    const [similar, changes, groups, releases, neighbours] = await Promise.all([
      readSimilar(incident, context),
      readChanges(incident, context),
      stores.incidentContext.listNewGroups(caller.orgId, around, SHOWN),
      exceptions.listNewReleases([incident.serviceId], { from: before, to: around.to }, SHOWN),
      stores.incidentContext.listNeighbours(incident, around, SHOWN),
    ]);
    return {
      similar,
      changes,
      newGroups: groups
        .filter(({ groupId }) => groupId !== incident.exceptionGroupId)
        .map(({ createdAt, ...group }) => ({ ...group, at: toTimestamp(createdAt) })),
      releases: releases.map(({ release, at }) => ({ release, at: toTimestamp(at) })),
      neighbours: neighbours.map((other) => ({ ...other, triggeredAt: toTimestamp(other.triggeredAt) })),
    };
  },
});

async function readSimilar(
  incident: IncidentRow,
  { caller, stores, now }: ActionContext,
): Promise<Static<typeof ContextView>['similar']> {
  const { retentionOncall } = await stores.services.get(caller.orgId, incident.serviceId);
  const since = now.subtract({ hours: 24 * SIMILAR_DAYS });
  const keptSince = now.subtract({ hours: 24 * retentionOncall });
  const found = await stores.incidentContext.listSimilar(incident, { since, keptSince }, SIMILAR_READ);
  const shown = found.slice(0, SIMILAR_SHOWN);
  const people = await stores.people.listPeople(
    caller.orgId,
    shown.flatMap(({ resolvedBy }) => (resolvedBy !== null && 'userId' in resolvedBy ? [resolvedBy.userId] : [])),
  );
  const nameOf = (userId: string) => people.get(userId)?.name ?? 'somebody who has left';
  return {
    count: found.length,
    ...durationsOf(found),
    incidents: shown.map(({ incidentId, number, title, status, triggeredAt, resolvedAt, resolvedBy }) => ({
      incidentId,
      number,
      title,
      status,
      triggeredAt: toTimestamp(triggeredAt),
      resolvedAt: toTimestampOrNull(resolvedAt),
      resolvedBy: resolvedBy === null ? null : actorName(resolvedBy, nameOf),
    })),
  };
}

/** Who changed what, without the values: those are in the audit log, which not everybody may read. */
async function readChanges(
  incident: IncidentRow,
  { caller, stores }: ActionContext,
): Promise<Static<typeof ContextView>['changes']> {
  const rules = await stores.alertRules.listOfService(caller.orgId, incident.serviceId, RULES_MAX);
  const names = new Map<string, string>([[incident.serviceId, incident.serviceName]]);
  for (const { id, name } of rules) names.set(id, name);
  const policyId = incident.escalationPolicyId;
  const lines = await stores.auditLog.list(
    caller.orgId,
    {
      from: incident.triggeredAt.subtract({ minutes: CHANGES_BEFORE_MINUTES }),
      to: incident.triggeredAt.add({ minutes: AROUND_MINUTES }),
      targets: [
        ...names.keys(),
        ...(incident.ruleId === null ? [] : [incident.ruleId]),
        ...(policyId === null ? [] : [policyId]),
      ],
      result: 'done',
      actionsLeftOut: CREDENTIAL_READS,
    },
    null,
    CHANGES_SHOWN,
  );
  return lines.map(({ at, action, target, actorName: name }) => ({
    at: toTimestamp(at),
    action,
    by: name ?? 'Tocsin itself',
    target: target ?? '',
    targetName: names.get(target ?? '') ?? null,
  }));
}
