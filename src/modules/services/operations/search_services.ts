import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { nullable, STRICT } from '#actions/fields.ts';
import { idsInput, nameCursorOf, pageInput, pageOf, parseNameCursor, searchInput } from '#actions/list_page.ts';
import { OWNED_BY, readOwningTeams } from '#modules/teams/owning_teams.ts';
import { ServiceView, toServiceView } from '#modules/services/view.ts';

const LIMIT = 50;
const LIMIT_MAX = 200;

/** Lists services for the console's lists and choices with paging, so that each can be reached. */
export const searchServices = defineAction({
  name: 'search_services',
  consoleOnly: true,
  summary: 'Find services page by page, by name.',
  permission: 'services:view',
  effect: 'read',
  input: Type.Object(
    {
      text: searchInput('part of the name or the environment'),
      ownedBy: OWNED_BY,
      serviceIds: idsInput(LIMIT_MAX),
      ...pageInput(LIMIT, LIMIT_MAX),
    },
    STRICT,
  ),
  result: Type.Object({
    services: Type.Array(ServiceView),
    total: Type.Integer({ minimum: 0, description: 'services that match the text, on all pages' }),
    nextCursor: nullable(Type.String()),
  }),
  example: {
    text: 'check',
    ownedBy: EXAMPLE_IDS.teamId,
    serviceIds: ['service_01k9z8e4rnf7ktv2x5m6w0abqe'],
    cursor: nameCursorOf({ name: 'checkout', id: EXAMPLE_IDS.serviceId }),
    limit: 20,
  },
  async handle({ text, ownedBy, serviceIds, cursor, limit = LIMIT }, context) {
    const { caller, stores } = context;
    const filter = { text: text?.trim(), ownedByTeams: await readOwningTeams(ownedBy, context) };
    const services = await stores.services.search(
      caller.orgId,
      { ...filter, serviceIds },
      { after: cursor === undefined ? null : parseNameCursor('service', cursor), limit: limit + 1 },
    );
    const { shown, nextCursor } = pageOf(services, limit, nameCursorOf);
    return {
      services: shown.map(toServiceView),
      total: await stores.services.count(caller.orgId, filter),
      nextCursor,
    };
  },
});
