import { type Static, Type } from 'typebox';

import { changesSince, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, nullable, StrictObject } from '#actions/fields.ts';
import { type Fault, invalidInput } from '#kernel/errors.ts';
import { asId } from '#kernel/ids.ts';
import {
  areConditions,
  PATH_LENGTH_MAX,
  ROUTE_CONDITIONS_MAX,
  ROUTE_OUTCOMES,
  conditionOf,
  ROUTES_MAX,
  VALUE_LENGTH_MAX,
} from '#modules/alerts/decide/route.ts';
import { ALERT_PROTOCOL_NAMES } from '#modules/alerts/decide/tools.ts';
import type { AlertRouteRow } from '#modules/alerts/store/alert_route_store.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';

const ROUTE_FIELDS = {
  conditions: Type.Array(Type.Object({}, { additionalProperties: true })),
  outcome: Type.Enum([...ROUTE_OUTCOMES]),
  policyId: nullable(Type.String({ description: 'null where nobody is paged, or the policy was deleted' })),
  pagesOnRise: Type.Boolean(),
  isUnreadable: Type.Optional(
    Type.Literal(true, { description: 'its conditions cannot be read: it takes no alert until they are set again' }),
  ),
};
const RouteView = Type.Object(ROUTE_FIELDS);

export const RoutesView = Type.Object({
  serviceId: IdText,
  routes: Type.Array(RouteView, { description: 'in order; the last one takes what no other does' }),
});

export function toRouteViews(routes: readonly AlertRouteRow[]): Static<typeof RoutesView>['routes'] {
  return routes.map(({ conditions, ...route }) =>
    areConditions(conditions)
      ? { ...route, conditions: [...conditions] }
      : { ...route, conditions: [], isUnreadable: true as const },
  );
}

const PATH = Type.String({
  minLength: 1,
  maxLength: PATH_LENGTH_MAX,
  description: 'a path in the details, as `labels.team`',
});
const VALUE = Type.String({ maxLength: VALUE_LENGTH_MAX });

const Condition = StrictObject({
  kind: Type.Enum(['severity', 'source', 'detail']),
  atLeast: Type.Optional(Type.Enum([...LEVELS], { description: 'of severity' })),
  protocol: Type.Optional(Type.Enum([...ALERT_PROTOCOL_NAMES], { description: 'of source' })),
  name: Type.Optional(Type.String({ maxLength: 100, description: 'of source: which of several' })),
  path: Type.Optional(PATH),
  equals: Type.Optional(VALUE),
  matches: Type.Optional(VALUE),
});

const Route = StrictObject({
  conditions: Type.Array(Condition, { maxItems: ROUTE_CONDITIONS_MAX, description: 'all have to be true' }),
  outcome: Type.Enum([...ROUTE_OUTCOMES], {
    description: 'page by the policy, open an incident that pages nobody, or drop: count the alert and do nothing',
  }),
  policyId: nullable(IdText),
  pagesOnRise: Type.Boolean({ description: 'whether an alert that becomes more severe pages anew' }),
});

const ReadRoutes = Type.Array(
  StrictObject({ ...ROUTE_FIELDS, conditions: Type.Array(Type.Unsafe<object>(Condition)) }),
  { maxItems: ROUTES_MAX, description: 'the routes that were read' },
);

export const setAlertRoutes = defineOperation({
  name: 'set_alert_routes',
  summary:
    'Set what becomes of the alerts of a service, unless somebody else has changed it since it was read: the first route whose conditions are all true counts; the last one has none.',
  permission: 'oncall:edit',
  effect: 'write',
  input: StrictObject({
    serviceId: IdText,
    routes: Type.Array(Route, { minItems: 1, maxItems: ROUTES_MAX }),
    basedOn: Type.Optional(ReadRoutes),
  }),
  result: RoutesView,
  conflict: 'somebody has changed the routes since they were read',
  example: {
    routes: [{ conditions: [], outcome: 'page', policyId: IDS.policyId, pagesOnRise: true }],
    basedOn: [{ conditions: [], outcome: 'page', policyId: IDS.policyId, pagesOnRise: false }],
  },
  async handle({ serviceId, routes, basedOn }, { stores, caller, now, record }) {
    const faults = faultsOf(routes);
    if (faults.length > 0) throw invalidInput(faults);
    const service = await stores.services.lock(caller.orgId, serviceId);
    for (const [index, { policyId }] of routes.entries()) {
      if (policyId !== null) await stores.policies.get(caller.orgId, policyId, `routes[${index}].policyId`);
    }
    const before = await stores.alertRoutes.list(service.id);
    const after = routes.map((route) => ({
      ...route,
      conditions: route.conditions.flatMap((condition) => conditionOf(condition) ?? []),
      policyId: route.policyId === null ? null : asId('policy', route.policyId),
    }));
    const read = basedOn && { routes: basedOn };
    changesSince(read, { routes: toRouteViews(before) }, { routes: toRouteViews(after) }, 'the routes of this service');
    await stores.alertRoutes.replace(service, after, now);
    record({ target: service.id, before: { alertRoutes: before }, after: { alertRoutes: after } });
    return { serviceId: service.id, routes: toRouteViews(after) };
  },
});

function faultsOf(routes: readonly Static<typeof Route>[]): Fault[] {
  return routes.flatMap(({ conditions, outcome, policyId }, index): Fault[] => {
    const isLast = index === routes.length - 1;
    const incomplete = conditions.flatMap((condition, place): Fault[] =>
      conditionOf(condition) === null
        ? [
            {
              path: `routes[${index}].conditions[${place}]`,
              message: 'severity asks for atLeast, source for protocol, detail for path and equals or matches',
            },
          ]
        : [],
    );
    return [
      ...incomplete,
      ...(isLast && conditions.length > 0
        ? [{ path: `routes[${index}].conditions`, message: 'the last route takes the rest: it has no conditions' }]
        : []),
      ...(!isLast && conditions.length === 0
        ? [{ path: `routes[${index}].conditions`, message: 'only the last route has no conditions' }]
        : []),
      ...(outcome === 'page' && policyId === null
        ? [{ path: `routes[${index}].policyId`, message: 'is required: a route that pages names a policy' }]
        : []),
      ...(outcome !== 'page' && policyId !== null
        ? [{ path: `routes[${index}].policyId`, message: 'is null for a route that pages nobody' }]
        : []),
    ];
  });
}
