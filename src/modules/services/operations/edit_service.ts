import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { changesSince } from '#actions/changes_since.ts';
import { STRICT, FreeText, IdText, Name, nullable } from '#actions/fields.ts';
import { changeService } from '#modules/services/change_service.ts';
import { ServiceView, SERVICE_EXAMPLE } from '#modules/services/view.ts';

const FACTS = {
  name: Name,
  environment: nullable(FreeText),
  scmOwner: nullable(FreeText),
  scmRepo: nullable(FreeText),
};

const { serviceId, name, environment, scmOwner, scmRepo } = SERVICE_EXAMPLE;

/** Does what `update_service` does, but refuses to overwrite a change made since the editor read it. */
export const editService = defineAction({
  name: 'edit_service',
  consoleOnly: true,
  summary:
    'Change the name, environment or linked repository of a service, unless somebody else has changed the same since it was read.',
  permission: 'services:edit',
  effect: 'write',
  input: Type.Object(
    { serviceId: IdText, ...FACTS, basedOn: Type.Object(FACTS, { ...STRICT, description: 'what was read' }) },
    STRICT,
  ),
  result: ServiceView,
  conflict: 'somebody has changed the same since it was read',
  example: {
    serviceId,
    name,
    environment: 'staging',
    scmOwner,
    scmRepo,
    basedOn: { name, environment, scmOwner, scmRepo },
  },
  handle: ({ serviceId, basedOn, ...wanted }, context) =>
    changeService(serviceId, context, (service) => {
      Object.assign(service, changesSince(basedOn, service, wanted, 'this service'));
    }),
});
