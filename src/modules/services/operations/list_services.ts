import { type Static, Type } from 'typebox';

import { defineAction, defineOperation, LIST_LIMIT } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, nullable, StrictObject } from '#actions/fields.ts';
import { idsInput, nameCursorOf, pageInput, pageOf, parseNameCursor, searchInput } from '#actions/list_page.ts';
import { RULE_EXAMPLE, RuleKindName } from '#modules/rules/view.ts';
import { SERVICE_EXAMPLE, ServiceView, toServiceView } from '#modules/services/view.ts';
import { OWNED_BY, readOwningTeams } from '#modules/teams/view.ts';

/** Limit on the rules of all services together; `get_service` has those of one. */
const RULES_MAX = 5_000;

const ListedServiceView = Type.Object({
  ...ServiceView.properties,
  rules: Type.Array(Type.Object({ ruleId: IdText, name: Type.String(), kind: RuleKindName, enabled: Type.Boolean() }), {
    description: `its alert rules, oldest first; at most ${RULES_MAX} of all services together`,
  }),
  openIncidents: nullable(
    Type.Object(
      { triggered: Type.Integer(), acknowledged: Type.Integer() },
      { description: 'null for callers who may not see incidents' },
    ),
  ),
});

type ListedService = Static<typeof ListedServiceView>;

/** Sorts services with unanswered incidents first, then by name. */
function mostUrgentServices(services: readonly ListedService[]) {
  const open = ({ openIncidents }: ListedService) => openIncidents ?? NONE_OPEN;
  return services
    .toSorted(
      (a, b) =>
        open(b).triggered - open(a).triggered ||
        open(b).acknowledged - open(a).acknowledged ||
        (a.name < b.name ? -1 : 1),
    )
    .map(({ retentionDays: _, createdAt: _created, updatedAt: _updated, rules, openIncidents, ...service }) => ({
      ...service,
      ...(openIncidents === null ? {} : { openIncidents }),
      rules: rules.map(({ ruleId, name, enabled }) => ({ ruleId, name, ...(enabled ? {} : { enabled }) })),
    }));
}

const NONE_OPEN = { triggered: 0, acknowledged: 0 };

export const listServices = defineAction({
  name: 'list_services',
  summary:
    'List the monitored services of the organization with repository, enabled capabilities, alert rules and the number of open incidents.',
  guidance: 'Start here: most tools need a serviceId.',
  permission: 'services:view',
  effect: 'read',
  input: StrictObject({}),
  result: Type.Object({
    services: Type.Array(ListedServiceView),
    total: Type.Integer({ description: 'how many services there are, also beyond the cut' }),
  }),
  lists: {
    service: ({ services }) => services.map(({ serviceId, name }) => ({ id: serviceId, names: [name], links: [] })),
    rule: ({ services }) =>
      services.flatMap(({ serviceId, rules }) =>
        rules.map(({ ruleId, name }) => ({ id: ruleId, names: [name], links: [serviceId] })),
      ),
  },
  aliases: [
    'get_services',
    'list_alert_rules',
    'list_rules',
    'get_alert_rules',
    'get_alert_rule',
    'list_monitors',
    'list_projects',
  ],
  digest: ({ services, total }) => ({ total, services: mostUrgentServices(services) }),
  example: {},
  exampleResult: {
    total: 1,
    services: [
      {
        ...SERVICE_EXAMPLE,
        rules: [{ ruleId: IDS.ruleId, name: RULE_EXAMPLE.name, kind: RULE_EXAMPLE.kind, enabled: true }],
        openIncidents: { triggered: 1, acknowledged: 0 },
      },
    ],
  },
  async handle(_input, { caller, stores }) {
    const { orgId } = caller;
    const services = await stores.services.listWithRules(orgId, LIST_LIMIT, RULES_MAX);
    const total =
      services.length < LIST_LIMIT ? services.length : await stores.services.count(orgId, { text: undefined });
    const seesIncidents = caller.permissions.has('oncall:view');
    return {
      total,
      services: services.map((service) => ({
        ...toServiceView(service),
        rules: service.rules ?? [],
        openIncidents: seesIncidents
          ? { triggered: service.triggered ?? 0, acknowledged: service.acknowledged ?? 0 }
          : null,
      })),
    };
  },
});

const LIMIT = 50;
const LIMIT_MAX = 200;

/** Lists services for the console's lists and choices with paging, so that each can be reached. */
export const searchServices = defineOperation({
  name: 'search_services',
  summary: 'Find services page by page, by name.',
  permission: 'services:view',
  effect: 'read',
  input: StrictObject({
    text: searchInput('part of the name or the environment'),
    ownedBy: OWNED_BY,
    serviceIds: idsInput(LIMIT_MAX),
    ...pageInput(LIMIT, LIMIT_MAX),
  }),
  result: Type.Object({
    services: Type.Array(ServiceView),
    total: Type.Integer({ minimum: 0, description: 'services that match the text, on all pages' }),
    nextCursor: nullable(Type.String()),
  }),
  example: {
    text: 'check',
    ownedBy: IDS.teamId,
    serviceIds: ['service_01k9z8e4rnf7ktv2x5m6w0abqe'],
    cursor: nameCursorOf({ name: 'checkout', id: IDS.serviceId }),
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
    return { services: shown.map(toServiceView), total: await stores.services.count(caller.orgId, filter), nextCursor };
  },
});
