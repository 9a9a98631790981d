import { type Static, Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS, IdText, nullable, StrictObject, Timestamp } from '#actions/fields.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { GROUP_EXAMPLE, scopeOf } from '#modules/exceptions/operations/view.ts';
import type { ExceptionGroupRow } from '#modules/exceptions/store/exception_group_store.ts';
import { firstBadRelease, ROLLED_OUT_WITHIN_MINUTES, suspectDeployOf } from '#modules/releases/decide/deploys.ts';
import { readDeploys } from '#modules/releases/deploys.ts';

const ENVIRONMENTS_MAX = 50;
const RELEASES_MAX = 50;

/** Lists the values by which a list of exception groups can be filtered. */
export const listExceptionOrigins = defineOperation({
  name: 'list_exception_origins',
  summary:
    'List the environments that events came from, the most frequent first, and the releases, the last seen first; at ' +
    'most 50 of each, with how many there are.',
  permission: 'exceptions:view',
  effect: 'read',
  input: StrictObject({
    serviceId: Type.Optional(IdText),
    environment: Type.Optional(Type.String({ maxLength: 200, description: 'part of the name of the environments' })),
    release: Type.Optional(Type.String({ maxLength: 200, description: 'part of the name of the releases' })),
  }),
  result: Type.Object({
    environments: Type.Array(Type.String()),
    environmentsTotal: Type.Integer(),
    releases: Type.Array(Type.String()),
    releasesTotal: Type.Integer(),
  }),
  example: { serviceId: EXAMPLE_IDS.serviceId, environment: 'prod', release: '2027' },
  async handle({ serviceId, environment = '', release = '' }, { caller, stores, exceptions, now }) {
    const service = serviceId === undefined ? null : await stores.services.get(caller.orgId, serviceId);
    const services = await stores.exceptionSearch.listServices(caller.orgId, service?.id ?? null, now);
    const [environments, releases] = await Promise.all([
      exceptions.counter.listValues(services, 'environment', { text: environment, limit: ENVIRONMENTS_MAX }),
      exceptions.counter.listValues(services, 'release', { text: release, limit: RELEASES_MAX }),
    ]);
    return {
      environments: [...environments.values],
      environmentsTotal: environments.total,
      releases: [...releases.values],
      releasesTotal: releases.total,
    };
  },
});

const ORIGINS_MAX = 100;
/** Hours before the first event within which a deploy may have caused it. */
const SUSPECT_HOURS = 24;
const DEPLOYS_MAX = 100;

/** Counts of a group by origin, for the comparison of releases. */
export const ORIGIN_FIELDS = {
  byRelease: Type.Array(
    Type.Object({
      release: nullable(Type.String()),
      environment: nullable(Type.String()),
      eventCount: Type.Integer(),
      userCount: Type.Integer(),
      firstSeenAt: Timestamp,
      lastSeenAt: Timestamp,
    }),
    { description: `counts by release and environment, last seen first, at most ${ORIGINS_MAX}` },
  ),
  firstBadRelease: nullable(
    Type.String({ description: 'the release that brought it, or brought it back after it was resolved' }),
  ),
  suspectDeploy: nullable(
    Type.Object(
      {
        release: Type.String(),
        at: Timestamp,
        environment: nullable(
          Type.String({ description: 'where it was deployed; null when only its first exception tells of it' }),
        ),
        secondsBefore: Type.Integer({ description: 'below 0 when its roll-out ended later' }),
      },
      {
        description:
          'the deploy of the first bad release, or else the last one before the group was first seen, or seen again: `secondsBefore` it. Releases that nobody recorded count from their first exception. null when there was none within 24 hours',
      },
    ),
  ),
};

const OriginsView = Type.Object(ORIGIN_FIELDS);

export const ORIGINS_EXAMPLE: Static<typeof OriginsView> = {
  byRelease: [
    {
      release: '2027.5.1',
      environment: 'production',
      eventCount: GROUP_EXAMPLE.eventCount,
      userCount: GROUP_EXAMPLE.userCount,
      firstSeenAt: GROUP_EXAMPLE.firstSeenAt,
      lastSeenAt: GROUP_EXAMPLE.lastSeenAt,
    },
  ],
  firstBadRelease: '2027.5.1',
  suspectDeploy: { release: '2027.5.1', at: '2027-02-03T01:58:12.310Z', environment: 'production', secondsBefore: 12 },
};

export async function readOrigins(
  group: ExceptionGroupRow,
  context: Pick<ActionContext, 'caller' | 'stores' | 'exceptions' | 'now'>,
): Promise<Static<typeof OriginsView>> {
  const beganAt = group.regressedAt ?? group.firstSeenAt;
  const around = {
    from: beganAt.subtract({ hours: SUSPECT_HOURS }),
    to: beganAt.add({ minutes: ROLLED_OUT_WITHIN_MINUTES, seconds: 1 }),
  };
  const [origins, deploys] = await Promise.all([
    context.exceptions.counter.countByOrigin(scopeOf(group, context.now), ORIGINS_MAX),
    readDeploys(group.serviceId, around, DEPLOYS_MAX, context),
  ]);
  const bad = firstBadRelease(origins, toTimestampOrNull(group.regressedAt))?.release ?? null;
  const environments = new Set(origins.map(({ environment }) => environment).filter((name) => name !== ''));
  const suspect = suspectDeployOf(deploys, { beganAt, environments, firstBadRelease: bad });
  return {
    byRelease: origins.map(({ release, environment, events, users, firstSeenAt, lastSeenAt }) => ({
      release: release === '' ? null : release,
      environment: environment === '' ? null : environment,
      eventCount: events,
      userCount: users,
      firstSeenAt,
      lastSeenAt,
    })),
    firstBadRelease: bad,
    suspectDeploy: suspect && {
      release: suspect.release,
      at: toTimestamp(suspect.at),
      environment: suspect.environment,
      secondsBefore: Math.round(beganAt.since(suspect.at).total('seconds')),
    },
  };
}
