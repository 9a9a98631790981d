import type { RouteInFile } from '#modules/configuration/decide/file_fields.ts';
import { maintenanceTimes, nameInFile } from '#modules/moving_in/decide/in_file.ts';
import type { Moved } from '#modules/moving_in/decide/moved.ts';

/** A condition on a label of an alert. */
export interface Matcher {
  readonly name: string;
  readonly operator: string;
  readonly value: string;
}

/** A route of a tree of routes. */
export interface RouteNode {
  readonly id: string;
  readonly name: string;
  readonly receiver: string;
  readonly matchers: readonly Matcher[];
  readonly continues: boolean;
  readonly losses: readonly string[];
  readonly children: readonly RouteNode[];
}

type Conditions = NonNullable<RouteInFile['conditions']>;

const ROUTES_MAX = 50;
const VALUES_MAX = 20;

/**
 * Adds a tree of routes as the routes of one service: those of children before those of their parent, whose conditions
 * they share. A route pages by the policy of its receiver, and opens an incident only where there is none.
 */
export function addRoutes(moved: Moved, serviceName: string, tree: RouteNode): void {
  const service = moved.key('alerts');
  moved.services.set('alerts', { key: service, name: nameInFile(serviceName, 'Alerts'), capabilities: ['oncall'] });
  moved.ledger.add(
    'service',
    'alerts',
    serviceName,
    'compiled',
    'It is made for the routes, which belong to a service here.',
    `Send the alerts of ${moved.tool.title} with its alert key.`,
  );
  const routes: RouteInFile[] = [];
  addNode(moved, tree, [], routes, true);
  const last = routes.pop();
  if (last !== undefined)
    moved.routes.push({ key: moved.key('routes'), service, routes: [...routes.slice(0, ROUTES_MAX - 1), last] });
}

function addNode(
  moved: Moved,
  node: RouteNode,
  above: readonly Conditions[],
  routes: RouteInFile[],
  isRoot: boolean,
): void {
  const { ledger } = moved;
  ledger.see('route', node.id, node.name);
  const conditions = isRoot ? [[]] : conditionsOf(node.matchers);
  if (conditions === null) {
    ledger.judge(
      'route',
      node.id,
      'refused',
      `No condition here says ${node.matchers.map(({ name, operator, value }) => `${name}${operator}"${value}"`).join(', ')}.`,
      'Make a route with conditions that mean the same.',
    );
    for (const child of node.children) refuseBelow(moved, child);
    return;
  }
  const all = (above.length === 0 ? [[]] : above).flatMap((outer) => conditions.map((inner) => [...outer, ...inner]));
  for (const child of node.children) addNode(moved, child, all, routes, false);
  const policy = moved.policies.get(node.receiver);
  for (const conditions of all) {
    routes.push({
      ...(conditions.length > 0 && { conditions: conditions.slice(0, VALUES_MAX) }),
      outcome: policy === undefined ? 'open' : 'page',
      ...(policy !== undefined && { policy: policy.key }),
    });
  }
  const losses = [...node.losses];
  if (node.continues)
    losses.push('It goes on to the next route there; here the first route that fits takes the alert.');
  if (policy === undefined)
    losses.push(`Its receiver "${node.receiver}" names nobody who was read, so it opens incidents that page nobody.`);
  if (routes.length > ROUTES_MAX)
    ledger.judge(
      'route',
      node.id,
      'refused',
      `A service has at most ${ROUTES_MAX} routes.`,
      'Spread the alerts over several services.',
    );
  ledger.judge(
    'route',
    node.id,
    losses.length > 0 ? 'compiled' : 'exact',
    losses.join(' '),
    policy === undefined ? 'Give the route a policy.' : '',
  );
}

function refuseBelow(moved: Moved, node: RouteNode): void {
  moved.ledger.add('route', node.id, node.name, 'refused', 'The route above it is refused.');
  for (const child of node.children) refuseBelow(moved, child);
}

/** Returns conditions, of which one list has to be true; null if no conditions say the matchers. */
function conditionsOf(matchers: readonly Matcher[]): Conditions[] | null {
  let lists: Conditions[] = [[]];
  for (const { name, operator, value } of matchers) {
    const path = `labels.${name}`;
    const conditions =
      operator === '='
        ? [{ kind: 'detail' as const, path, equals: value }]
        : operator === '=~'
          ? patternConditions(path, value)
          : null;
    if (conditions === null) return null;
    lists = lists.flatMap((list) => conditions.map((condition) => [...list, condition]));
    if (lists.length > VALUES_MAX) return null;
  }
  return lists;
}

/** Reads the pattern of alternatives, each of which is a text or a text with `.*` at its ends. */
function patternConditions(path: string, pattern: string): Conditions | null {
  const inner = pattern
    .replace(/^\^/, '')
    .replace(/\$$/, '')
    .replace(/^\((?:\?:)?([^()]*)\)$/, '$1');
  const conditions: Conditions[number][] = [];
  for (const alternative of inner.split('|')) {
    const text = alternative
      .replaceAll('.*', '*')
      .replaceAll('.+', '*')
      .replaceAll(/\\([.\-/])/g, '$1');
    if (/[\\()[\]{}?+^$]/.test(text) || /(?<!\\)\.(?![*+])/.test(alternative.replaceAll(/\\\./g, ''))) return null;
    conditions.push(
      text.includes('*') ? { kind: 'detail', path, matches: text } : { kind: 'detail', path, equals: text },
    );
  }
  return conditions;
}

/** Adds maintenance for the alerts of one label, or refuses it. */
export function addSilence(
  moved: Moved,
  id: string,
  name: string,
  matchers: readonly Matcher[],
  from: number,
  to: number | null,
): void {
  moved.ledger.see('silence', id, name);
  const [only, ...others] = matchers;
  if (to !== null && to <= moved.since) {
    moved.ledger.judge('silence', id, 'exact', 'It is over, so nothing is left to do.');
  } else if (only === undefined || others.length > 0 || only.operator !== '=' || only.value === '') {
    moved.ledger.judge(
      'silence',
      id,
      'refused',
      'Maintenance here is for one label with one value.',
      'Enter it by hand.',
    );
  } else {
    const { times, loss } = maintenanceTimes(moved.clock('UTC'), from, to);
    moved.maintenance.push({
      key: moved.key(`silence-${id}`),
      name: nameInFile(name, id),
      label: { name: only.name, value: only.value },
      timezone: 'UTC',
      ...times,
    });
    moved.ledger.judge('silence', id, loss === '' ? 'exact' : 'compiled', loss);
  }
}
