import { type Static, Type } from 'typebox';

import { IdText, nullable } from '#actions/fields.ts';
import { areConditions, ROUTE_OUTCOMES } from '#modules/alerts/decide/route.ts';
import type { AlertRouteRow } from '#modules/alerts/store/alert_route_store.ts';

const RouteView = Type.Object({
  conditions: Type.Array(Type.Object({}, { additionalProperties: true })),
  outcome: Type.Enum([...ROUTE_OUTCOMES]),
  policyId: nullable(Type.String({ description: 'null where nobody is paged, or the policy was deleted' })),
  pagesOnRise: Type.Boolean(),
  isUnreadable: Type.Optional(
    Type.Literal(true, { description: 'its conditions cannot be read: it takes no alert until they are set again' }),
  ),
});

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
