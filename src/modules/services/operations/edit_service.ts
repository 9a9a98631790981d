import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { changesSince } from '#actions/changes_since.ts';
import { STRICT, FreeText, IdText, Name, nullable } from '#actions/fields.ts';
import { changeService } from '#modules/services/change_service.ts';
import { ServiceView, SERVICE_EXAMPLE } from '#modules/services/view.ts';

const FACTS = {
  name: Name,
  environment: nullable(FreeText),
  scmOwner: nullable(FreeText),
  scmRepo: nullable(FreeText),
  teamId: Type.Optional(nullable(Type.String({ ...IdText, description: 'the team that owns it' }))),
};

const { serviceId, name, environment, scmOwner, scmRepo } = SERVICE_EXAMPLE;
const facts = { name, environment, scmOwner, scmRepo };

/** Does what `update_service` does, but refuses to overwrite a change made since the editor read it. */
export const editService = defineAction({
  name: 'edit_service',
  consoleOnly: true,
  summary:
    'Change the name, environment, linked repository or owning team of a service, unless somebody else has changed the same since it was read.',
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
    ...facts,
    environment: 'staging',
    teamId: EXAMPLE_IDS.teamId,
    basedOn: { ...facts, teamId: null },
  },
  handle: ({ serviceId, basedOn, ...wanted }, context) =>
    changeService(serviceId, context, async (service) => {
      const { stores, caller } = context;
      const team = typeof wanted.teamId === 'string' ? await stores.teams.get(caller.orgId, wanted.teamId) : null;
      const read = { ...basedOn, teamId: basedOn.teamId ?? null };
      const { teamId, ...changes } = changesSince(read, service, wanted, 'this service');
      Object.assign(service, changes);
      if (teamId !== undefined) service.teamId = team?.id ?? null;
    }),
});
