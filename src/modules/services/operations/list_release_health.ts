import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText, nullable } from '#actions/fields.ts';
import { crashFreePercent } from '#modules/exceptions/decide/sessions.ts';

const DAYS = 14;
const RELEASES_MAX = 20;

const COUNT = Type.Integer({ minimum: 0 });

export const listReleaseHealth = defineAction({
  name: 'list_release_health',
  consoleOnly: true,
  summary: `Show how the sessions of a service's releases ended in the last ${DAYS} days.`,
  permission: 'exceptions:view',
  effect: 'read',
  input: Type.Object({ serviceId: IdText }, STRICT),
  result: Type.Object({
    releases: Type.Array(
      Type.Object({
        release: Type.String(),
        sessions: COUNT,
        errored: COUNT,
        crashed: COUNT,
        abnormal: COUNT,
        crashFreePercent: nullable(Type.Number({ description: 'of its sessions' })),
      }),
      { description: `the ${RELEASES_MAX} with most sessions` },
    ),
    total: COUNT,
  }),
  example: { serviceId: EXAMPLE_IDS.serviceId },
  async handle({ serviceId }, { caller, stores, now }) {
    const service = await stores.services.get(caller.orgId, serviceId);
    const page = await stores.sentItems.listReleases(service.id, now.subtract({ hours: 24 * DAYS }), RELEASES_MAX);
    return {
      releases: page.map(({ total: _, ...counts }) => ({ ...counts, crashFreePercent: crashFreePercent(counts) })),
      total: page[0]?.total ?? 0,
    };
  },
});
