import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { STRICT, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { toTimestamp, toTimestampOrNull } from '#kernel/time.ts';
import { SHADOW_FIELDS } from '#modules/shadow/operations/shadow_fields.ts';

const SERVICES_MAX = 1_000;

export const getShadowMode = defineAction({
  name: 'get_shadow_mode',
  consoleOnly: true,
  summary: 'Show since when the organization and its services are in shadow mode.',
  permission: 'oncall:view',
  effect: 'read',
  input: Type.Object({}, STRICT),
  result: Type.Object({
    organizationSince: nullable(Timestamp),
    services: Type.Array(Type.Object({ serviceId: IdText, name: Type.String(), since: Timestamp }), {
      description: `those in shadow mode by themselves, by name; at most ${SERVICES_MAX}`,
    }),
    openIncidents: SHADOW_FIELDS.openIncidents,
  }),
  example: {},
  async handle(_input, { caller, stores }) {
    const services = await stores.shadow.listServices(caller.orgId, SERVICES_MAX);
    return {
      organizationSince: toTimestampOrNull(await stores.shadow.findOrganization(caller.orgId)),
      services: services.map(({ serviceId, name, since }) => ({ serviceId, name, since: toTimestamp(since) })),
      openIncidents: await stores.shadow.countOpen(caller.orgId, null),
    };
  },
});
