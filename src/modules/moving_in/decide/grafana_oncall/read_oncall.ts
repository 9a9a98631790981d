import { addPolicies, type ReadPolicy, type ReadTarget } from '#modules/moving_in/decide/add_policies.ts';
import { collectOnCall, type OnCallAnswers } from '#modules/moving_in/decide/grafana_oncall/collect.ts';
import { addOnCallSchedules } from '#modules/moving_in/decide/grafana_oncall/schedules.ts';
import { type Channel, Moved, nameInFile, type ReadingTime } from '#modules/moving_in/decide/moved.ts';
import { numberOf, objectOf, type RawDocument, type RawObject, textOf } from '#modules/moving_in/decide/raw.ts';

const ROLES: Record<string, 'admin' | 'editor' | 'viewer'> = {
  admin: 'admin',
  editor: 'editor',
  user: 'editor',
  viewer: 'viewer',
  observer: 'viewer',
};

const CHANNELS: Record<string, Channel> = {
  notify_by_sms: 'sms',
  notify_by_phone_call: 'call',
  notify_by_email: 'email',
  notify_by_mobile_app: 'push',
  notify_by_mobile_app_critical: 'push',
};

/** Most repetitions of an escalation chain of OnCall. */
const CHAIN_REPEATS = 5;

/** Turns answers of Grafana OnCall or IRM into a file; null if none of the documents is one. */
export function readOnCall(documents: readonly RawDocument[], time: ReadingTime): Moved | null {
  const answers = collectOnCall(documents);
  if (documents.length === answers.unknown.length) return null;
  const moved = new Moved({ prefix: 'oncall', title: 'Grafana OnCall' }, time);
  addPeople(moved, answers);
  addOnCallSchedules(moved, answers);
  addChains(moved, answers);
  addIntegrations(moved, answers);
  for (const { path, value } of answers.swap) {
    moved.ledger
      .see('shift_swap', textOf(value, 'id') || path, textOf(value, 'description'))
      .refuse('Swaps are not taken over.', 'Enter an override for each that is taken.');
  }
  if (answers.user.length === 0)
    moved.ledger
      .see('list', 'users', 'users')
      .refuse('No answer with users was found, so nobody of the shifts can be named.', 'Read the users, too.');
  for (const list of new Set(answers.incomplete))
    moved.ledger
      .see('list', list, list)
      .refuse(`Less was read than the list holds: ${list}.`, 'Read the list to its end, and then again.');
  for (const path of answers.unknown)
    moved.ledger
      .see('file', path, path)
      .refuse('Nothing in it looks like an answer of Grafana OnCall.', 'Nothing, if it belongs to something else.');
  return moved;
}

function addPeople(moved: Moved, answers: OnCallAnswers): void {
  const rules = Map.groupBy(answers.contactRule, ({ value }) => textOf(value, 'user_id'));
  for (const { value } of answers.user) {
    const id = textOf(value, 'id');
    if (id === '') continue;
    const channels = new Set((rules.get(id) ?? []).flatMap((rule) => CHANNELS[textOf(rule.value, 'type')] ?? []));
    const [name, email] = [textOf(value, 'name') || textOf(value, 'username'), textOf(value, 'email')];
    moved.addPerson({
      id,
      name,
      email,
      role: ROLES[textOf(value, 'role')],
      zone: textOf(value, 'timezone'),
      phones: [],
      channels: channels.size > 0 ? channels : null,
    });
    moved.alias(email, id);
    moved.alias(textOf(value, 'username'), id);
  }
  for (const { value } of answers.team)
    if (textOf(value, 'id') !== '') moved.addTeam(textOf(value, 'id'), textOf(value, 'name'));
  for (const { value } of answers.user) {
    const teams = Array.isArray(value['teams']) ? value['teams'].filter((team) => typeof team === 'string') : [];
    for (const team of teams) moved.addMember(team, textOf(value, 'id'), textOf(value, 'username'));
  }
  for (const { path, value } of answers.contactRule) judgeContactRule(moved, path, value);
}

function judgeContactRule(moved: Moved, path: string, rule: RawObject): void {
  const [id, type] = [textOf(rule, 'id') || path, textOf(rule, 'type')];
  const item = moved.ledger.see('contact_rule', id, `${textOf(rule, 'user_id')}: ${type}`);
  if (CHANNELS[type] !== undefined)
    item.judge(
      'compiled',
      'Its channel is switched on for the person; when a message leaves is decided by the step here.',
    );
  else if (type === 'wait')
    item.judge(
      'compiled',
      `Its pause of ${numberOf(rule, 'duration') ?? 0} seconds is not kept.`,
      'Add a step of the policy after that time.',
    );
  else item.refuse(`Nothing here is like "${type}".`, 'Choose another channel.');
}

function addChains(moved: Moved, answers: OnCallAnswers): void {
  const steps = Map.groupBy(answers.step, ({ value }) => textOf(value, 'escalation_chain_id'));
  const chains = new Map(answers.chain.map(({ value }) => [textOf(value, 'id'), value]));
  for (const id of steps.keys()) if (!chains.has(id)) chains.set(id, { id, name: id });
  addPolicies(
    moved,
    [...chains]
      .filter(([id]) => id !== '')
      .map(([id, chain]) =>
        chainPolicy(
          id,
          chain,
          (steps.get(id) ?? []).map(({ value }) => value),
        ),
      ),
  );
}

function chainPolicy(id: string, chain: RawObject, steps: readonly RawObject[]): ReadPolicy {
  const losses: string[] = [];
  let seconds = 0;
  let repeats = 0;
  let roundRobin = false;
  const read = steps
    .toSorted((a, b) => (numberOf(a, 'position') ?? 0) - (numberOf(b, 'position') ?? 0))
    .map((step, index) => {
      const targets: ReadTarget[] = [];
      const afterMinutes = seconds / 60;
      switch (textOf(step, 'type')) {
        case 'wait':
          seconds += numberOf(step, 'duration') ?? 300;
          break;
        case 'notify_persons':
          targets.push(...targetsOf('user', step['persons_to_notify']));
          break;
        case 'notify_person_next_each_time':
          targets.push(...targetsOf('user', step['persons_to_notify_next_each_time']));
          if (index === 0) roundRobin = true;
          else losses.push(`Step ${index + 1} takes turns there; here only the first step can.`);
          break;
        case 'notify_on_call_from_schedule':
          targets.push(...targetsOf('schedule', [step['notify_on_call_from_schedule']]));
          break;
        case 'notify_team_members':
          targets.push(...targetsOf('team', [step['notify_to_team_members'] ?? step['team_to_notify']]));
          break;
        case 'repeat_escalation':
          repeats = CHAIN_REPEATS;
          break;
        default:
          losses.push(`A step of the type "${textOf(step, 'type')}" has no like here.`);
      }
      return { afterMinutes, targets };
    });
  const last = read.findLast(({ targets }) => targets.length > 0)?.afterMinutes ?? 0;
  return {
    id,
    name: textOf(chain, 'name') || id,
    teamIds: [textOf(chain, 'team_id')].filter((teamId) => teamId !== ''),
    steps: read.filter(({ targets }) => targets.length > 0),
    repeat: repeats > 0 ? { times: repeats, pauseMinutes: Math.max(0, Math.round(seconds / 60 - last)) } : null,
    roundRobin,
    losses,
  };
}

function targetsOf(kind: ReadTarget['kind'], ids: unknown): ReadTarget[] {
  return (Array.isArray(ids) ? ids : []).flatMap((id) => (typeof id === 'string' ? [{ kind, id, name: '' }] : []));
}

function addIntegrations(moved: Moved, answers: OnCallAnswers): void {
  for (const [id, value] of new Map(
    answers.integration.map((integration) => [textOf(integration.value, 'id'), integration.value]),
  )) {
    if (id === '') continue;
    const name = textOf(value, 'name');
    const policy = moved.policies.get(textOf(objectOf(value['default_route']), 'escalation_chain_id'));
    const team = moved.teamKey(textOf(value, 'team_id'));
    moved.services.set(id, {
      key: moved.key(id),
      name: nameInFile(name, id),
      capabilities: ['oncall'],
      ...(team !== null && { team }),
      ...(policy !== undefined && { policy: policy.key }),
    });
    moved.ledger
      .see('integration', id, name)
      .judge(
        'compiled',
        'It is a service; its address is another here.',
        'Change address and key in the sender when you cut over.',
      );
  }
  for (const { path, value } of answers.route) {
    if (value['is_the_last_route'] === true)
      moved.ledger
        .see('route', textOf(value, 'id') || path, 'last route')
        .judge('compiled', 'It is the policy of the service.');
    else
      moved.ledger
        .see('route', textOf(value, 'id') || path, textOf(value, 'routing_regex'))
        .refuse('Its pattern is not taken over.', 'Make a route of the service with the condition that is meant.');
  }
}
