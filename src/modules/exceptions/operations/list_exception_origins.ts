import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';

const ENVIRONMENTS_MAX = 50;
const RELEASES_MAX = 50;

/** Lists the values by which a list of exception groups can be filtered. */
export const listExceptionOrigins = defineAction({
  name: 'list_exception_origins',
  consoleOnly: true,
  summary:
    'List the environments that events came from, the most frequent first, and the releases, the last seen first; at ' +
    'most 50 of each, with how many there are.',
  permission: 'exceptions:view',
  effect: 'read',
  input: Type.Object(
    {
      serviceId: Type.Optional(IdText),
      release: Type.Optional(Type.String({ maxLength: 200, description: 'part of the name of the releases' })),
    },
    STRICT,
  ),
  result: Type.Object({
    environments: Type.Array(Type.String()),
    environmentsTotal: Type.Integer(),
    releases: Type.Array(Type.String()),
    releasesTotal: Type.Integer(),
  }),
  example: { serviceId: EXAMPLE_IDS.serviceId, release: '2027' },
  async handle({ serviceId, release = '' }, { caller, stores, exceptions, now }) {
    const service = serviceId === undefined ? null : await stores.services.get(caller.orgId, serviceId);
    const services = await stores.exceptionSearch.listServices(caller.orgId, service?.id ?? null, now);
    const [environments, releases] = await Promise.all([
      exceptions.counter.listValues(services, 'environment', { text: '', limit: ENVIRONMENTS_MAX }),
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
