import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { CLOSED, FreeText, IdText, Name, nullable } from '#actions/fields.ts';
import { changeService } from '#actions/services/change_service.ts';
import { ServiceView } from '#actions/services/view.ts';

export const updateService = defineAction({
  name: 'update_service',
  summary: 'Update the name, environment or linked repository of a service. null clears a field.',
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
    CLOSED,
  ),
  result: ServiceView,
  async handle({ serviceId, ...fields }, context) {
    return await changeService(serviceId, context, (service) => {
      Object.assign(service, fields);
    });
  },
});
