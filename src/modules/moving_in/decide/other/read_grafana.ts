import { Moved, type ReadingTime } from '#modules/moving_in/decide/moved.ts';
import { durationMinutes } from '#modules/moving_in/decide/other/prom_rule.ts';
import { addAlertingRule } from '#modules/moving_in/decide/other/read_prometheus.ts';
import { addRoutes, matchersOf, matcherText, type RouteNode } from '#modules/moving_in/decide/other/routes.ts';
import { objectOf, objectsOf, type RawDocument, type RawObject, textOf } from '#modules/moving_in/decide/raw.ts';

const LISTS = ['groups', 'contactPoints', 'policies', 'muteTimes', 'templates'];

/** Turns provisioning files of Grafana's alerting into rules and routes; null if there are none. */
export function readGrafana(documents: readonly RawDocument[], time: ReadingTime): Moved | null {
  const files = documents.flatMap(({ value }) => {
    const body = objectOf(value);
    return body !== null && LISTS.some((list) => Array.isArray(body[list])) ? [body] : [];
  });
  if (files.length === 0) return null;
  const moved = new Moved({ prefix: 'grafana', title: 'Grafana' }, time);
  const all = (list: string): RawObject[] => files.flatMap((file) => objectsOf(file[list]));
  for (const group of all('groups')) for (const rule of objectsOf(group['rules'])) addGrafanaRule(moved, group, rule);
  for (const point of all('contactPoints')) {
    for (const receiver of objectsOf(point['receivers'])) {
      const name = `${textOf(point, 'name')}: ${textOf(receiver, 'type')}`;
      moved.ledger
        .see('contact_point', textOf(receiver, 'uid') || name, name)
        .refuse('It names a channel and no people.', 'Make a policy, and give it to the routes.');
    }
  }
  const [root, ...others] = all('policies');
  if (root !== undefined) addRoutes(moved, 'Grafana', nodeOf(root, '', '0'));
  for (const [index, policy] of others.entries())
    moved.ledger
      .see('route', `policy ${index + 2}`, textOf(policy, 'receiver'))
      .refuse('Only one tree of routes is read.', 'Read each by itself.');
  for (const mute of all('muteTimes'))
    moved.ledger
      .see('mute_time', textOf(mute, 'name'), textOf(mute, 'name'))
      .refuse(
        'Times at which a route is silent are not taken over.',
        'Make maintenance that comes again, or a policy with hours.',
      );
  for (const template of all('templates'))
    moved.ledger
      .see('template', textOf(template, 'name'), textOf(template, 'name'))
      .refuse('Messages here have a form of their own.');
  return moved;
}

const COMPARATORS: Record<string, string> = { gt: '>', lt: '<', gte: '>=', lte: '<=' };
const REDUCERS: Record<string, string> = { mean: 'avg', max: 'max', min: 'min', sum: 'sum' };

function addGrafanaRule(moved: Moved, group: RawObject, rule: RawObject): void {
  const name = textOf(rule, 'title') || textOf(rule, 'alert');
  const id = textOf(rule, 'uid') || `${textOf(group, 'name')}/${name}`;
  const service = textOf(objectOf(rule['labels']), 'service');
  const isOn = rule['isPaused'] !== true;
  addAlertingRule(moved, 'rule', {
    id,
    name,
    expr: exprOf(rule),
    forMinutes: durationMinutes(textOf(rule, 'for')),
    keepMinutes: durationMinutes(textOf(rule, 'keepFiringFor') || textOf(rule, 'keep_firing_for')),
    service,
    isOn,
  });
}

/** Returns query, reduction and threshold as one expression; the text of the query where they are anything else. */
function exprOf(rule: RawObject): string {
  const models = new Map(
    objectsOf(rule['data']).map((query) => [textOf(query, 'refId'), { query, model: objectOf(query['model']) }]),
  );
  const condition = models.get(textOf(rule, 'condition'))?.model ?? null;
  const evaluator = objectOf(objectsOf(condition?.['conditions'])[0]?.['evaluator']);
  const params = evaluator?.['params'];
  const limit = Array.isArray(params) ? Number(params[0]) : Number.NaN;
  const comparator = COMPARATORS[textOf(evaluator, 'type')];
  const reduced = models.get(textOf(condition, 'expression'));
  const isReduce = textOf(reduced?.model ?? null, 'type') === 'reduce';
  const source = isReduce ? models.get(textOf(reduced?.model ?? null, 'expression')) : reduced;
  const expr = textOf(source?.model ?? null, 'expr');
  if (comparator === undefined || expr === '' || !Number.isFinite(limit))
    return expr || [...models.values()].map(({ model }) => textOf(model, 'expr')).join(' ');
  const reducer = REDUCERS[textOf(reduced?.model ?? null, 'reducer')];
  const seconds = Number(objectOf(source?.query['relativeTimeRange'])?.['from'] ?? 300);
  const isPlain = /^[A-Za-z_:][\w:]*(\{[^{}]*\})?$/.test(expr);
  const measured =
    isReduce && reducer !== undefined && isPlain ? `${reducer}_over_time(${expr}[${Math.max(60, seconds)}s])` : expr;
  return `${measured} ${comparator} ${limit}`;
}

function nodeOf(route: RawObject, inherited: string, id: string): RouteNode {
  const receiver = textOf(route, 'receiver') || inherited;
  const matchers = [...matchersOf(route['object_matchers']), ...matchersOf(route['matchers'])];
  return {
    id,
    name: matchers.length === 0 ? receiver : matchers.map(matcherText).join(', '),
    receiver,
    matchers,
    continues: route['continue'] === true,
    losses: Array.isArray(route['mute_time_intervals']) ? ['Times at which it is silent are not kept.'] : [],
    children: objectsOf(route['routes']).map((child, index) => nodeOf(child, receiver, `${id}.${index}`)),
  };
}
