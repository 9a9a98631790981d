import { Type } from 'typebox';

import { defineAction, LIST_LIMIT } from '#actions/action_context.ts';
import { CLOSED } from '#actions/fields.ts';
import { ServiceView, toServiceView, SERVICE_EXAMPLE } from '#actions/services/view.ts';

export const listServices = defineAction({
  name: 'list_services',
  summary: 'List the monitored services of the organization with repository and enabled capabilities.',
  guidance: 'Start here: most tools need a serviceId.',
  permission: 'services:view',
  effect: 'read',
  input: Type.Object({}, CLOSED),
  result: Type.Object({ services: Type.Array(ServiceView) }),
  showsIds: ['service'],
  example: {},
  exampleResult: { services: [SERVICE_EXAMPLE] },
  async handle(_input, { caller, stores }) {
    const services = await stores.services.list(caller.orgId, LIST_LIMIT);
    return { services: services.map(toServiceView) };
  },
});
