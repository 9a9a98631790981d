import { Type } from 'typebox';

import { changesSince, defineAction, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, FreeText, IdText, Name, nullable, StrictObject } from '#actions/fields.ts';
import { changeService } from '#modules/services/change_service.ts';
import { SERVICE_EXAMPLE, ServiceView } from '#modules/services/view.ts';

const OwningTeam = nullable(Type.String({ ...IdText, description: 'the team that owns it' }));

const FACTS = {
  name: Name,
  environment: nullable(FreeText),
  scmOwner: nullable(FreeText),
  scmRepo: nullable(FreeText),
  teamId: Type.Optional(OwningTeam),
};

const { serviceId, name, environment, scmOwner, scmRepo } = SERVICE_EXAMPLE;
const facts = { name, environment, scmOwner, scmRepo };

/** Does what `update_service` does, but refuses to overwrite a change made since the editor read it. */
export const editService = defineOperation({
  name: 'edit_service',
  summary:
    'Change the name, environment, linked repository or owning team of a service, unless somebody else has changed the same since it was read.',
  permission: 'services:edit',
  effect: 'write',
  input: StrictObject({ serviceId: IdText, ...FACTS, basedOn: StrictObject(FACTS, { description: 'what was read' }) }),
  result: ServiceView,
  conflict: 'somebody has changed the same since it was read',
  example: { serviceId, ...facts, environment: 'staging', teamId: IDS.teamId, basedOn: { ...facts, teamId: null } },
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

export const setServiceTeam = defineOperation({
  name: 'set_service_team',
  summary: 'Say which team owns a service; null for none.',
  permission: 'services:edit',
  effect: 'write',
  input: StrictObject({ serviceId: IdText, teamId: OwningTeam }),
  result: ServiceView,
  example: { serviceId },
  handle: ({ serviceId, teamId }, context) =>
    changeService(serviceId, context, async (service) => {
      const { stores, caller } = context;
      service.teamId = teamId === null ? null : (await stores.teams.get(caller.orgId, teamId)).id;
    }),
});

export const updateService = defineAction({
  name: 'update_service',
  summary: 'Update the name, environment or linked repository of a service. null clears a field.',
  guidance: 'A field that is left out stays.',
  permission: 'services:edit',
  effect: 'write',
  input: StrictObject({
    serviceId: IdText,
    name: Type.Optional(Name),
    environment: Type.Optional(nullable(FreeText)),
    scmOwner: Type.Optional(nullable(FreeText)),
    scmRepo: Type.Optional(nullable(FreeText)),
  }),
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
