import {
  addPolicies,
  type ReadPolicy,
  type ReadStep,
  type ReadTarget,
} from '#modules/moving_in/decide/add_policies.ts';
import { maintenanceTimes, Moved, nameInFile, type ReadingTime } from '#modules/moving_in/decide/moved.ts';
import {
  idInPath,
  instantOf,
  numberOf,
  objectOf,
  objectsOf,
  type RawDocument,
  type RawObject,
  textOf,
} from '#modules/moving_in/decide/raw.ts';
import { collectOpsgenie, type OpsgenieAnswers } from './collect.ts';
import { addOpsgeniePeople, participantReader, userIdOf } from './people.ts';
import { addOpsgenieSchedules } from './schedules.ts';

/** Turns answers of Opsgenie or JSM Operations, or a backup of its configuration, into a file; null if there are none. */
export function readOpsgenie(documents: readonly RawDocument[], time: ReadingTime): Moved | null {
  const answers = collectOpsgenie(documents);
  if (documents.length === answers.unknown.length) return null;
  const moved = new Moved({ prefix: 'opsgenie', title: 'Opsgenie' }, time);
  addOpsgeniePeople(moved, answers);
  addTeams(moved, answers);
  addOpsgenieSchedules(moved, answers, participantReader(moved, answers));
  addOpsgeniePolicies(moved, answers);
  addOpsgenieServices(moved, answers);
  for (const { path, value } of answers.forwarding) {
    const id = textOf(value, 'id') || textOf(value, 'alias') || path;
    const name = `${textOf(objectOf(value['fromUser']), 'username')} to ${textOf(objectOf(value['toUser']), 'username')}`;
    moved.ledger
      .see('forwarding', id, name)
      .refuse(
        "Forwarding of one person's messages to another is not taken over.",
        'Enter overrides for the shifts in that time.',
      );
  }
  if (answers.user.length === 0)
    moved.ledger
      .see('list', 'users', 'users')
      .refuse('No answer with users was found, so nobody of the schedules can be named.', 'Read the users, too.');
  for (const list of new Set(answers.incomplete)) {
    moved.ledger
      .see('list', list, list)
      .refuse(`Less was read than the list holds: ${list}.`, 'Read the list to its end, and then again.');
  }
  for (const path of answers.unknown) {
    moved.ledger
      .see('file', path, path)
      .refuse('Nothing in it looks like an answer of Opsgenie.', 'Nothing, if it belongs to something else.');
  }
  return moved;
}

function addTeams(moved: Moved, answers: OpsgenieAnswers): void {
  for (const { value } of answers.team) {
    const id = textOf(value, 'id') || textOf(value, 'teamId');
    if (id !== '') moved.addTeam(id, textOf(value, 'name') || textOf(value, 'teamName'));
  }
  for (const { value } of answers.team) {
    const id = textOf(value, 'id') || textOf(value, 'teamId');
    for (const member of objectsOf(value['members'])) {
      const user = objectOf(member['user']) ?? member;
      moved.addMember(id, userIdOf(user), textOf(user, 'username') || userIdOf(user));
    }
  }
}

const MINUTES: Record<string, number> = { days: 1_440, hours: 60, minutes: 1, seconds: 1 / 60 };

/** Adds escalations as policies. Each delay of Opsgenie counts from the beginning. */
function addOpsgeniePolicies(moved: Moved, answers: OpsgenieAnswers): void {
  const teamIn = idInPath(answers.team.map(({ value }) => textOf(value, 'id') || textOf(value, 'teamId')));
  const byId = new Map(
    answers.escalation.map(({ path, value }) => [textOf(value, 'id'), { teamId: teamIn(path) ?? '', ...value }]),
  );
  byId.delete('');
  const routed = defaultRoutes(answers);
  addPolicies(
    moved,
    [...byId].map(([id, escalation]) => policyOf(moved, id, escalation, routed)),
  );
  for (const { path, value } of answers.routingRule) judgeRoutingRule(moved, path, value);
}

/** Returns whom the default routing rule of each team notifies, by the id of the team. */
function defaultRoutes(answers: OpsgenieAnswers): Map<string, RawObject> {
  const teamIds = answers.team.map(({ value }) => textOf(value, 'id')).filter((id) => id !== '');
  const routes = new Map<string, RawObject>();
  for (const { path, value } of answers.routingRule) {
    const teamId = teamIds.find((id) => path.includes(id.toLowerCase()));
    const notify = objectOf(value['notify']);
    if (
      teamId !== undefined &&
      notify !== null &&
      value['isDefault'] !== false &&
      (value['isDefault'] === true || !routes.has(teamId))
    )
      routes.set(teamId, notify);
  }
  return routes;
}

function policyOf(moved: Moved, id: string, escalation: RawObject, routed: ReadonlyMap<string, RawObject>): ReadPolicy {
  const repeat = objectOf(escalation['repeat']);
  const times = numberOf(repeat, 'count') ?? 0;
  const losses =
    repeat?.['closeAlertAfterAll'] === true
      ? ['It closes the alert after the last repetition there; here it stays open.']
      : [];
  return {
    id,
    name: textOf(escalation, 'name'),
    teamIds: [textOf(objectOf(escalation['ownerTeam']), 'id') || textOf(escalation, 'teamId')].filter(
      (teamId) => teamId !== '',
    ),
    steps: objectsOf(escalation['rules']).map((rule) => stepOf(moved, rule, routed)),
    repeat: times > 0 ? { times, pauseMinutes: numberOf(repeat, 'waitInterval') ?? 0 } : null,
    losses,
  };
}

function stepOf(moved: Moved, rule: RawObject, routed: ReadonlyMap<string, RawObject>): ReadStep {
  const losses: string[] = [];
  const delay = objectOf(rule['delay']);
  const amount = numberOf(delay, 'timeAmount') ?? numberOf(rule, 'delay') ?? 0;
  const afterMinutes = amount * (MINUTES[textOf(delay, 'timeUnit') || 'minutes'] ?? 1);
  if (textOf(rule, 'condition') === 'if-not-closed')
    losses.push('A rule goes on after an acknowledgement there; here an acknowledgement stops the steps.');
  const recipient = objectOf(rule['recipient']);
  const target = recipient === null ? null : targetOf(moved, recipient, textOf(rule, 'notifyType'), routed, losses);
  return { afterMinutes, targets: target === null ? [] : [target], losses };
}

function targetOf(
  moved: Moved,
  recipient: RawObject,
  notifyType: string,
  routed: ReadonlyMap<string, RawObject>,
  losses: string[],
): ReadTarget | null {
  const [type, id] = [textOf(recipient, 'type').toLowerCase(), textOf(recipient, 'id')];
  const name = textOf(recipient, 'name') || textOf(recipient, 'username') || id;
  switch (type) {
    case 'none':
      losses.push('A rule notifies nobody.');
      return null;
    case 'schedule':
      if (notifyType === 'previous')
        losses.push(`A rule reaches who was on call before in ${name}; here it reaches who is.`);
      return { kind: notifyType === 'next' ? 'next' : 'schedule', id, name };
    case 'escalation':
      return { kind: 'policy', id, name };
    case 'team': {
      if (notifyType === 'admins' || notifyType === 'users')
        losses.push(`A rule reaches only the ${notifyType} of ${name}; here it reaches all members.`);
      const route = notifyType === '' || notifyType === 'default' ? routed.get(id) : undefined;
      if (route === undefined) {
        if (notifyType === 'default' || notifyType === '')
          losses.push(`A rule follows the routing of ${name}, which was not read; here it reaches all members.`);
        return { kind: 'team', id, name };
      }
      return targetOf(moved, route, 'default', new Map(), losses);
    }
    default: {
      const userId = userIdOf(recipient);
      return { kind: 'user', id: moved.person(userId) === null && moved.person(name) !== null ? name : userId, name };
    }
  }
}

function judgeRoutingRule(moved: Moved, path: string, rule: RawObject): void {
  const id = textOf(rule, 'id') || `${path}/${textOf(rule, 'name')}`;
  const isDefault = rule['isDefault'] === true;
  const name = textOf(rule, 'name') || (isDefault ? 'default' : id);
  if (isDefault)
    moved.ledger
      .see('routing_rule', id, name)
      .judge('compiled', 'It decides where steps for the team and integrations of the team lead.');
  else
    moved.ledger
      .see('routing_rule', id, name)
      .refuse('Its conditions are not taken over.', 'Make a route of the service with these conditions.');
}

/** Adds integrations as services, and what has no place here as refused. */
function addOpsgenieServices(moved: Moved, answers: OpsgenieAnswers): void {
  const routed = defaultRoutes(answers);
  for (const [id, value] of new Map(
    answers.integration.map((integration) => [textOf(integration.value, 'id'), integration.value]),
  )) {
    if (id !== '') addIntegration(moved, id, value, routed);
  }
  for (const { value } of answers.maintenance) judgeMaintenance(moved, value);
  for (const { path, value } of answers.alertPolicy) {
    moved.ledger
      .see('alert_policy', textOf(value, 'id') || path, textOf(value, 'name'))
      .refuse('Policies that change alerts on their way are not taken over.', 'Make routes, or rules that group.');
  }
}

function addIntegration(moved: Moved, id: string, value: RawObject, routed: ReadonlyMap<string, RawObject>): void {
  const name = textOf(value, 'name');
  const teamId = textOf(objectOf(value['ownerTeam']), 'id') || textOf(value, 'teamId');
  const team = moved.teamKey(teamId);
  const route = routed.get(teamId);
  const policy =
    route === undefined || textOf(route, 'type') !== 'escalation' ? undefined : moved.policies.get(textOf(route, 'id'));
  moved.services.set(id, {
    key: moved.key(id),
    name: nameInFile(name, id),
    capabilities: ['oncall'],
    ...(team !== null && { team }),
    ...(policy !== undefined && { policy: policy.key }),
  });
  const reason =
    policy === undefined
      ? 'It is a service without a policy: no escalation of its team was found.'
      : 'It is a service that pages by the escalation of its team.';
  moved.ledger
    .see('integration', id, name)
    .judge(
      'compiled',
      reason,
      `${policy === undefined ? 'Give it a policy, and change' : 'Change'} address and key in the sender when you cut over.`,
    );
}

function judgeMaintenance(moved: Moved, value: RawObject): void {
  const id = textOf(value, 'id');
  moved.ledger.see('maintenance', id, textOf(value, 'description'));
  const time = objectOf(value['time']);
  const [from, to] = [instantOf(textOf(time, 'startDate')), instantOf(textOf(time, 'endDate'))];
  if ((to !== null && to <= moved.since) || ['past', 'cancelled'].includes(textOf(value, 'status'))) {
    moved.ledger.item('maintenance', id).judge('exact', 'It is over, so nothing is left to do.');
    return;
  }
  const services = objectsOf(value['rules']).flatMap(
    (rule) => moved.services.get(textOf(objectOf(rule['entity']), 'id')) ?? [],
  );
  if (from === null || services.length === 0) {
    moved.ledger
      .item('maintenance', id)
      .refuse('What it silences or when it begins was not read.', 'Enter it by hand.');
    return;
  }
  const { times, loss } = maintenanceTimes(moved.clock('UTC'), from, to);
  for (const { key } of services) {
    moved.maintenance.push({
      key: moved.key(`${id}.${key}`),
      name: nameInFile(textOf(value, 'description'), id),
      service: key,
      timezone: 'UTC',
      ...times,
    });
  }
  moved.ledger.item('maintenance', id).judge(loss === '' ? 'exact' : 'compiled', loss);
}
