import { type Static, Type } from 'typebox';

import { STRICT, Key } from '#modules/configuration/decide/file_fields.ts';
import { ROUTE_CONDITIONS_MAX, ROUTE_OUTCOMES } from '#modules/alerts/decide/route.ts';
import { ALERT_PROTOCOL_NAMES } from '#modules/alerts/decide/tools.ts';
import { LEVELS } from '#modules/exceptions/decide/level.ts';

const Value = Type.String({ maxLength: 500 });

const Condition = Type.Object(
  {
    kind: Type.Enum(['severity', 'source', 'detail']),
    atLeast: Type.Optional(Type.Enum([...LEVELS], { description: 'of severity' })),
    protocol: Type.Optional(Type.Enum([...ALERT_PROTOCOL_NAMES], { description: 'of source' })),
    name: Type.Optional(Type.String({ maxLength: 100, description: 'of source: which of several' })),
    path: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'of detail: a path such as labels.team' }),
    ),
    equals: Type.Optional(Value),
    matches: Type.Optional(Value),
  },
  STRICT,
);

/** One route of a service's alerts. */
export const ROUTE = Type.Object(
  {
    conditions: Type.Optional(
      Type.Array(Condition, { maxItems: ROUTE_CONDITIONS_MAX, description: 'all have to be true' }),
    ),
    outcome: Type.Enum([...ROUTE_OUTCOMES]),
    policy: Type.Optional(Key),
    pagesOnRise: Type.Optional(Type.Boolean({ description: 'an alert that becomes more severe pages anew' })),
  },
  STRICT,
);

export type RouteInFile = Static<typeof ROUTE>;
