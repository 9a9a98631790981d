import { describe, expect, test } from 'vitest';

import {
  conditionsText,
  draftRoutes,
  faultsOfRoute,
  inputOfRoutes,
  moveRoute,
  NEW_CONDITION,
  type Route,
  serverFaultsOfRoutes,
} from '#console/pages/alert_sources/route_draft.ts';

const ROUTES: readonly Route[] = [
  {
    conditions: [
      { kind: 'severity', atLeast: 'fatal' },
      { kind: 'source', protocol: 'alertmanager', name: 'am.example:9093' },
    ],
    outcome: 'page',
    policyId: 'policy_1',
    pagesOnRise: true,
  },
  {
    conditions: [
      { kind: 'source', protocol: 'webhook' },
      { kind: 'source', protocol: 'webhook', name: '' },
      { kind: 'detail', path: 'labels.team', equals: 'shop' },
      { kind: 'detail', path: 'labels.host', matches: 'db-*' },
    ],
    outcome: 'drop',
    policyId: null,
    pagesOnRise: false,
  },
  { conditions: [], outcome: 'open', policyId: null, pagesOnRise: false },
];

test('routes that nobody changes are sent as they were', () => {
  expect(inputOfRoutes(draftRoutes(ROUTES))).toEqual(ROUTES);
});

test('a route that pages nobody names no policy, and the last one has no conditions', () => {
  const [first] = draftRoutes(ROUTES);
  expect(inputOfRoutes([{ ...first!, outcome: 'drop' }])).toEqual([
    { conditions: [], outcome: 'drop', policyId: null, pagesOnRise: false },
  ]);
});

test('conditions are said in words', () => {
  expect(ROUTES.map(({ conditions }) => conditionsText(conditions as Parameters<typeof conditionsText>[0]))).toEqual([
    'severity at least critical and from Alertmanager am.example:9093',
    'from any Webhook and from Webhook and labels.team is “shop” and labels.host matches “db-*”',
    'Everything else',
  ]);
});

describe('a route', () => {
  const [first] = draftRoutes(ROUTES);
  const route = first!;

  test('moves up and down, but never behind the last one', () => {
    const routes = draftRoutes(ROUTES);
    const ids = (moved: readonly { readonly id: string }[]) => moved.map(({ id }) => id);
    expect(ids(moveRoute(routes, 0, 1))).toEqual(['1', '0', '2']);
    expect(ids(moveRoute(routes, 1, -1))).toEqual(['1', '0', '2']);
    for (const [index, by] of [
      [0, -1],
      [1, 1],
      [2, -1],
      [5, -1],
    ] as const) {
      expect(ids(moveRoute(routes, index, by))).toEqual(['0', '1', '2']);
    }
  });

  test('needs a condition unless it is the last, a policy to page by, and whole conditions', () => {
    expect(faultsOfRoute(route, false)).toEqual({});
    expect(faultsOfRoute({ ...route, conditions: [], policyId: null }, false)).toEqual({
      conditions: 'Add a condition: only the last route takes all',
      policyId: 'Choose whom it pages',
    });
    expect(faultsOfRoute({ ...route, conditions: [] }, true)).toEqual({});
    const incomplete = [
      { ...NEW_CONDITION, kind: 'source' },
      { ...NEW_CONDITION, kind: 'detail', path: ' ' },
    ] as const;
    expect(Object.keys(faultsOfRoute({ ...route, conditions: incomplete }, false))).toEqual([
      'conditions.0',
      'conditions.1',
    ]);
  });

  test('shows what the server says about it', () => {
    const faults = [
      { path: 'routes[0].policyId', message: 'is unknown' },
      { path: 'routes[2].conditions[1]', message: 'is incomplete' },
      { path: 'serviceId', message: 'is unknown' },
    ];
    expect([...serverFaultsOfRoutes(faults)]).toEqual([
      [0, { policyId: 'It is unknown' }],
      [2, { 'conditions.1': 'It is incomplete' }],
    ]);
  });
});
