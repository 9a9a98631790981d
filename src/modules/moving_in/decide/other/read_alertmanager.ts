import { addPolicies } from '#modules/moving_in/decide/add_policies.ts';
import { Moved, type ReadingTime } from '#modules/moving_in/decide/moved.ts';
import {
  addRoutes,
  addSilence,
  type Matcher,
  matchersOf,
  matcherText,
  type RouteNode,
} from '#modules/moving_in/decide/other/routes.ts';
import {
  instantOf,
  isObject,
  objectOf,
  objectsOf,
  type RawDocument,
  type RawObject,
  textOf,
} from '#modules/moving_in/decide/raw.ts';

/** Turns the configuration of an Alertmanager and its silences into routes and maintenance; null if there is neither. */
export function readAlertmanager(documents: readonly RawDocument[], time: ReadingTime): Moved | null {
  const configurations = documents.flatMap(({ value }) => (isObject(value) && isObject(value['route']) ? [value] : []));
  const silences = documents.flatMap(({ value }) =>
    objectsOf(value).filter((silence) => Array.isArray(silence['matchers']) && textOf(silence, 'startsAt') !== ''),
  );
  if (configurations.length === 0 && silences.length === 0) return null;
  const moved = new Moved({ prefix: 'alertmanager', title: 'Alertmanager' }, time);
  const [first, ...others] = configurations;
  if (first !== undefined) addConfiguration(moved, first);
  for (const [index] of others.entries())
    moved.ledger
      .see('configuration', String(index + 2), '')
      .refuse('Only the first configuration is read.', 'Read each by itself.');
  for (const { path, value } of documents) {
    if (
      Array.isArray(value)
        ? value.length === 0 || objectsOf(value).some((entry) => silences.includes(entry))
        : isObject(value) && configurations.includes(value)
    )
      continue;
    moved.ledger
      .see('file', path, path)
      .refuse('It is neither a configuration nor a list of silences.', 'Nothing, if it belongs to something else.');
  }
  for (const silence of silences) {
    const matchers = objectsOf(silence['matchers']).map((matcher): Matcher => ({
      name: textOf(matcher, 'name'),
      operator: operatorOf(matcher),
      value: textOf(matcher, 'value'),
    }));
    addSilence(
      moved,
      textOf(silence, 'id'),
      textOf(silence, 'comment'),
      matchers,
      instantOf(textOf(silence, 'startsAt')) ?? time.now,
      instantOf(textOf(silence, 'endsAt')),
    );
  }
  return moved;
}

function operatorOf(matcher: RawObject): string {
  const isEqual = matcher['isEqual'] !== false;
  if (matcher['isRegex'] === true) return isEqual ? '=~' : '!~';
  return isEqual ? '=' : '!=';
}

function addConfiguration(moved: Moved, configuration: RawObject): void {
  const policies = objectsOf(configuration['receivers']).map((receiver) => receiverPolicy(moved, receiver));
  addPolicies(
    moved,
    policies.filter((policy) => policy !== null),
  );
  const route = objectOf(configuration['route']);
  if (route !== null) addRoutes(moved, 'Alertmanager', nodeOf(route, '', '0'));
  for (const name of ['mute_time_intervals', 'time_intervals']) {
    for (const interval of objectsOf(configuration[name])) {
      moved.ledger
        .see('time_interval', textOf(interval, 'name'), textOf(interval, 'name'))
        .refuse(
          'Times at which a route is silent are not taken over.',
          'Make maintenance that comes again, or a policy with hours.',
        );
    }
  }
  for (const [index, inhibition] of objectsOf(configuration['inhibit_rules']).entries()) {
    moved.ledger
      .see('inhibition', String(index), JSON.stringify(inhibition).slice(0, 200))
      .refuse(
        'Inhibition happens in the Alertmanager, which goes on doing it while it sends.',
        'Leave it there, or let incidents open with another.',
      );
  }
}

/** Returns the policy for a receiver that mails people; null for one that names nobody. */
function receiverPolicy(
  moved: Moved,
  receiver: RawObject,
): {
  id: string;
  name: string;
  teamIds: string[];
  steps: { afterMinutes: number; targets: { kind: 'user'; id: string; name: string }[] }[];
  repeat: null;
  losses: string[];
} | null {
  const name = textOf(receiver, 'name');
  const addresses = objectsOf(receiver['email_configs']).flatMap((config) =>
    textOf(config, 'to')
      .split(',')
      .map((to) => (/<([^<>]+)>\s*$/.exec(to)?.[1] ?? to).trim())
      .filter((to) => to !== ''),
  );
  const kinds = Object.keys(receiver).filter((key) => key.endsWith('_configs'));
  moved.ledger.see('receiver', name, name);
  if (addresses.length === 0) {
    const reason =
      kinds.length === 0
        ? 'It notifies nobody.'
        : `It hands alerts on by ${kinds.map((kind) => kind.replace('_configs', '')).join(', ')}, and names no people.`;
    moved.ledger.item('receiver', name).refuse(reason, 'Make a policy, and give it to the routes.');
    return null;
  }
  for (const address of addresses)
    moved.addPerson({
      id: address.toLowerCase(),
      name: address,
      email: address,
      role: 'responder',
      zone: '',
      phones: [],
      channels: null,
    });
  const others = kinds.filter((kind) => kind !== 'email_configs');
  moved.ledger
    .item('receiver', name)
    .judge(
      'compiled',
      'It is a policy of one step for the people whom it mails.',
      others.length > 0 ? `See to ${others.join(', ')}.` : '',
    );
  return {
    id: name,
    name,
    teamIds: [],
    steps: [
      {
        afterMinutes: 0,
        targets: addresses.map((address) => ({ kind: 'user', id: address.toLowerCase(), name: address })),
      },
    ],
    repeat: null,
    losses: [],
  };
}

function nodeOf(route: RawObject, inherited: string, id: string): RouteNode {
  const receiver = textOf(route, 'receiver') || inherited;
  const matchers: Matcher[] = [
    ...Object.entries(objectOf(route['match']) ?? {}).map(([name, value]) => ({
      name,
      operator: '=',
      value: String(value),
    })),
    ...Object.entries(objectOf(route['match_re']) ?? {}).map(([name, value]) => ({
      name,
      operator: '=~',
      value: String(value),
    })),
    ...matchersOf(route['matchers']),
  ];
  const losses = ['mute_time_intervals', 'active_time_intervals'].some((name) => Array.isArray(route[name]))
    ? ['Times at which it is silent are not kept.']
    : [];
  return {
    id,
    name: matchers.length === 0 ? receiver : matchers.map(matcherText).join(', '),
    receiver,
    matchers,
    continues: route['continue'] === true,
    losses,
    children: objectsOf(route['routes']).map((child, index) => nodeOf(child, receiver, `${id}.${index}`)),
  };
}
