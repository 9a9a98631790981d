import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS } from '#actions/example_ids.ts';
import { STRICT, FreeText, IdText, Name, nullable } from '#actions/fields.ts';
import { changeService } from '#modules/services/change_service.ts';
import { ServiceView, SERVICE_EXAMPLE } from '#modules/services/view.ts';

export const updateService = defineAction({
  name: 'update_service',
  summary: 'Update the name, environment or linked repository of a service. null clears a field.',
  guidance: 'A field that is left out stays.',
  permission: 'services:edit',
  effect: 'write',
  input: Type.Object(
    {
      serviceId: IdText,
      name: Type.Optional(Name),
      environment: Type.Optional(nullable(FreeText)),
      scmOwner: Type.Optional(nullable(FreeText)),
      scmRepo: Type.Optional(nullable(FreeText)),
    },
    STRICT,
  ),
  result: ServiceView,
  example: {
    serviceId: IDS.serviceId,
    name: 'checkout',
    environment: null,
    scmOwner: 'northwind',
    scmRepo: 'checkout',
  },
  exampleResult: { ...SERVICE_EXAMPLE, environment: null, updatedAt: '2027-02-01T13:20:11.046Z' },
  async handle({ serviceId, ...fields }, context) {
    return await changeService(serviceId, context, (service) => {
      Object.assign(service, fields);
    });
  },
});
