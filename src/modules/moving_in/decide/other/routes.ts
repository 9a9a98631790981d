import { PATH_LENGTH_MAX, ROUTE_CONDITIONS_MAX, VALUE_LENGTH_MAX } from '#modules/alerts/decide/route.ts';
import type { RouteInFile } from '#modules/configuration/decide/file_fields.ts';
import { maintenanceTimes, type Moved, nameInFile } from '#modules/moving_in/decide/moved.ts';
import { objectOf, textOf } from '#modules/moving_in/decide/raw.ts';

/** A condition on a label of an alert; one that cannot be read has its whole text as name, and no operator. */
export interface Matcher {
  readonly name: string;
  readonly operator: string;
  readonly value: string;
}

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
const UNREAD = { operator: '', value: '' };

/**
 * Adds a tree of routes as the routes of one service: those of children before those of their parent, whose conditions
 * they share. A route pages by the policy of its receiver, and opens an incident only where there is none.
 */
export function addRoutes(moved: Moved, serviceName: string, tree: RouteNode): void {
  const service = moved.key('alerts');
  moved.services.set('alerts', { key: service, name: nameInFile(serviceName, 'Alerts'), capabilities: ['oncall'] });
  moved.ledger
    .see('service', 'alerts', serviceName)
    .judge(
      'compiled',
      'It is made for the routes, which belong to a service here.',
      `Send the alerts of ${moved.tool.title} with its alert key.`,
    );
  const routes: RouteInFile[] = [];
  addNode(moved, tree, [[]], routes, true);
  moved.routes.push({ key: moved.key('routes'), service, routes });
}

function addNode(
  moved: Moved,
  node: RouteNode,
  above: readonly Conditions[],
  routes: RouteInFile[],
  isRoot: boolean,
): void {
  const { ledger } = moved;
  const item = ledger.see('route', node.id, node.name);
  const conditions = isRoot ? [[]] : conditionsOf(node.matchers);
  const all = above.flatMap((outer) => (conditions ?? []).map((inner) => [...outer, ...inner]));
  if (conditions === null || all.length > VALUES_MAX || all.some(({ length }) => length > ROUTE_CONDITIONS_MAX)) {
    const said = node.matchers.map(matcherText).join(', ');
    const reason =
      conditions === null ? `No condition here says ${said}.` : 'It takes more conditions than a route has.';
    item.refuse(reason, 'Make a route with conditions that mean the same.');
    for (const child of node.children) refuseBelow(moved, child);
    return;
  }
  for (const child of node.children) addNode(moved, child, all, routes, false);
  const policy = moved.policies.get(node.receiver);
  if (!isRoot && all.some(({ length }) => length === 0)) {
    const reason = 'It takes every alert, as only the last route of a service does here.';
    item.refuse(reason, 'Give it conditions, or its policy to the last route.');
    return;
  }
  if (!isRoot && routes.length + all.length > ROUTES_MAX - 1) {
    const reason = `A service has at most ${ROUTES_MAX} routes.`;
    item.refuse(reason, 'Spread the alerts over several services.');
    return;
  }
  for (const conditions of all) {
    routes.push({
      ...(conditions.length > 0 && { conditions }),
      outcome: policy === undefined ? 'open' : 'page',
      ...(policy !== undefined && { policy: policy.key }),
    });
  }
  const losses = [...node.losses];
  if (node.continues)
    losses.push('It goes on to the next route there; here the first route that fits takes the alert.');
  if (policy === undefined)
    losses.push(`Its receiver "${node.receiver}" names nobody who was read, so it opens incidents that page nobody.`);
  if (all.some((list) => list.some((condition) => 'matches' in condition)))
    losses.push('Patterns here do not tell upper from lower case.');
  item.judge(
    losses.length > 0 ? 'compiled' : 'exact',
    losses.join(' '),
    policy === undefined ? 'Give the route a policy.' : '',
  );
}

function refuseBelow(moved: Moved, node: RouteNode): void {
  moved.ledger.see('route', node.id, node.name).refuse('The route above it is refused.');
  for (const child of node.children) refuseBelow(moved, child);
}

/** Returns the matchers of a list: texts, or objects with name, type and value. */
export function matchersOf(list: unknown): Matcher[] {
  return (Array.isArray(list) ? list : list === undefined || list === null ? [] : [list]).flatMap(
    (entry: unknown): Matcher[] => {
      if (typeof entry === 'string') return parseMatchers(entry);
      const [matcher, named] = [objectOf(entry), Array.isArray(entry) ? entry.map(String) : []];
      const [name = textOf(matcher, 'name'), operator = textOf(matcher, 'matchType') || '=', value] = named;
      if (name === '') return [{ name: JSON.stringify(entry).slice(0, 200), ...UNREAD }];
      return [{ name, operator, value: value ?? textOf(matcher, 'value') }];
    },
  );
}

const MATCHER =
  /\s*(?:([A-Za-z_][\w.:-]*)|"((?:[^"\\]|\\.)*)")\s*(=~|!~|!=|=)\s*(?:"((?:[^"\\]|\\.)*)"|([^,{}"]*))\s*(?:,|$)/y;

/** Reads matchers such as `team="core", severity=~"page|critical"`; what is none is one that no condition says. */
function parseMatchers(text: string): Matcher[] {
  const inner = text
    .trim()
    .replace(/^\{(.*)\}$/s, '$1')
    .trim();
  const matchers: Matcher[] = [];
  const unescaped = (quoted: string): string => quoted.replaceAll(/\\(["\\])/g, '$1');
  MATCHER.lastIndex = 0;
  for (let at = 0; at < inner.length; at = MATCHER.lastIndex) {
    const [, bareName, quotedName, operator = '=', quoted, bare = ''] = MATCHER.exec(inner) ?? [];
    const name = bareName ?? (quotedName === undefined ? undefined : unescaped(quotedName));
    if (name === undefined) return [{ name: text.slice(0, 200), ...UNREAD }];
    matchers.push({ name, operator, value: quoted === undefined ? bare.trim() : unescaped(quoted) });
  }
  return matchers;
}

export function matcherText({ name, operator, value }: Matcher): string {
  return operator === '' ? name : `${name}${operator}"${value}"`;
}

/** Returns conditions, of which one list has to be true; null if no conditions say the matchers. */
function conditionsOf(matchers: readonly Matcher[]): Conditions[] | null {
  let lists: Conditions[] = [[]];
  for (const { name, operator, value } of matchers) {
    const path = `labels.${name}`;
    const texts = operator === '=' ? [value] : operator === '=~' ? alternativesOf(value) : null;
    // An empty text is that of a label which an alert does not have.
    if (texts === null || path.length > PATH_LENGTH_MAX || texts.some((text) => !/[^*]/.test(text))) return null;
    if (texts.some((text) => text.length > VALUE_LENGTH_MAX)) return null;
    const conditions = texts.map((text) =>
      operator === '=~' && text.includes('*')
        ? { kind: 'detail' as const, path, matches: text }
        : { kind: 'detail' as const, path, equals: text },
    );
    lists = lists.flatMap((list) => conditions.map((condition) => [...list, condition]));
    if (lists.length > VALUES_MAX) return null;
  }
  return lists;
}

/** Reads a pattern of alternatives, each a text that may hold `.*`, which becomes `*`; null if it is anything else. */
function alternativesOf(pattern: string): string[] | null {
  const inner = pattern
    .replace(/^\^/, '')
    .replace(/\$$/, '')
    .replace(/^\((?:\?:)?([^()]*)\)$/, '$1');
  const texts = inner.split('|').map((alternative) => {
    const parts = alternative.split('.*');
    if (parts.some((part) => /[\\()[\]{}?+^$*.]/.test(part.replaceAll(/\\[.\-/]/g, '')))) return null;
    return parts.map((part) => part.replaceAll('\\', '')).join('*');
  });
  return texts.includes(null) ? null : texts.filter((text) => text !== null);
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
  const item = moved.ledger.see('silence', id, name);
  const [only, ...others] = matchers;
  if (to !== null && to <= moved.since) {
    item.judge('exact', 'It is over, so nothing is left to do.');
  } else if (
    only === undefined ||
    others.length > 0 ||
    only.operator !== '=' ||
    only.value === '' ||
    Math.max(only.name.length, only.value.length) > 1_000
  ) {
    item.refuse('Maintenance here is for one label with one value.', 'Enter it by hand.');
  } else {
    const { times, loss } = maintenanceTimes(moved.clock('UTC'), from, to);
    moved.maintenance.push({
      key: moved.key(`silence-${id}`),
      name: nameInFile(name, id),
      label: { name: only.name, value: only.value },
      timezone: 'UTC',
      ...times,
    });
    item.judge(loss === '' ? 'exact' : 'compiled', loss);
  }
}
