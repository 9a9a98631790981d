import { isoOf } from '#kernel/wall_clock.ts';
import { addPolicies, type ReadPolicy, type ReadTarget } from '#modules/moving_in/decide/add_policies.ts';
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
import { collectPagerDuty, type PagerDutyAnswers } from './collect.ts';
import { addPagerDutyPeople } from './people.ts';
import { addShiftBasedSchedules } from './schedules_v3.ts';
import { addPagerDutySchedules } from './schedules.ts';

/** Turns answers of PagerDuty's API into a file; null if none of the documents is one. */
export function readPagerDuty(documents: readonly RawDocument[], time: ReadingTime): Moved | null {
  const answers = collectPagerDuty(documents);
  if (documents.length === answers.unknown.length) return null;
  const moved = new Moved({ prefix: 'pagerduty', title: 'PagerDuty' }, time);
  addPagerDutyPeople(moved, answers);
  for (const team of answers.teams) {
    if (textOf(team, 'id') !== '') moved.addTeam(textOf(team, 'id'), textOf(team, 'name') || textOf(team, 'summary'));
  }
  const teamIn = idInPath(answers.teams.map((team) => textOf(team, 'id')));
  for (const { path, values } of answers.members) {
    const teamId = teamIn(path);
    for (const member of values) {
      const user = objectOf(member['user']) ?? member;
      moved.addMember(teamId ?? path, textOf(user, 'id'), textOf(user, 'summary') || textOf(user, 'name'));
    }
  }
  addPagerDutySchedules(moved, answers);
  addShiftBasedSchedules(moved, answers);
  addPagerDutyPolicies(moved, answers);
  addPagerDutyServices(moved, answers);
  if (answers.users.length === 0)
    moved.ledger
      .see('list', 'users', 'users')
      .refuse('No answer with users was found, so nobody of the schedules can be named.', 'Read the users, too.');
  for (const list of new Set(answers.incomplete)) {
    moved.ledger
      .see('list', list, list)
      .refuse(
        `The last page of ${list} says that more follow, and none does: some are missing.`,
        'Read the list to its end, and then again.',
      );
  }
  for (const path of answers.unknown) {
    moved.ledger
      .see('file', path, path)
      .refuse('Nothing in it looks like an answer of PagerDuty.', 'Nothing, if it belongs to something else.');
  }
  return moved;
}

/** Adds escalation policies. Each delay of PagerDuty counts from the step before, the last one until the repetition. */
function addPagerDutyPolicies(moved: Moved, answers: PagerDutyAnswers): void {
  const byId = new Map(answers.policies.map((policy) => [textOf(policy, 'id'), policy]));
  byId.delete('');
  addPolicies(
    moved,
    [...byId].map(([id, policy]) => policyOf(id, policy)),
  );
}

function policyOf(id: string, policy: RawObject): ReadPolicy {
  const rules = objectsOf(policy['escalation_rules']);
  const losses: string[] = [];
  let afterMinutes = 0;
  let delay = 0;
  let roundRobin = false;
  const steps = rules.map((rule, index) => {
    afterMinutes += delay;
    delay = numberOf(rule, 'escalation_delay_in_minutes') ?? 0;
    const strategy = objectOf(rule['escalation_rule_assignment_strategy']);
    if (
      textOf(strategy, 'type') === 'round_robin' ||
      textOf(rule, 'escalation_rule_assignment_strategy') === 'round_robin'
    ) {
      if (index === 0) roundRobin = true;
      else losses.push(`Step ${index + 1} takes turns there; here only the first step can.`);
    }
    return { afterMinutes, targets: objectsOf(rule['targets']).flatMap((target) => targetOf(target) ?? []) };
  });
  const times = numberOf(policy, 'num_loops') ?? 0;
  return {
    id,
    name: textOf(policy, 'name') || textOf(policy, 'summary'),
    teamIds: objectsOf(policy['teams']).map((team) => textOf(team, 'id')),
    steps,
    repeat: times > 0 ? { times, pauseMinutes: delay } : null,
    roundRobin,
    losses,
  };
}

function targetOf(target: RawObject): ReadTarget | null {
  const [id, type] = [textOf(target, 'id'), textOf(target, 'type')];
  const name = textOf(target, 'summary') || textOf(target, 'name');
  if (type.startsWith('user')) return { kind: 'user', id, name };
  return type.startsWith('schedule') ? { kind: 'schedule', id, name } : { kind: 'policy', id, name };
}

/** Adds services with the policy by which they page, and the windows of their maintenance. */
function addPagerDutyServices(moved: Moved, answers: PagerDutyAnswers): void {
  const byId = new Map(answers.services.map((service) => [textOf(service, 'id'), service]));
  byId.delete('');
  for (const [id, service] of byId) addService(moved, id, service);
  for (const window of answers.maintenance) addMaintenance(moved, window);
}

function addService(moved: Moved, id: string, service: RawObject): void {
  const { ledger } = moved;
  const name = textOf(service, 'name') || textOf(service, 'summary');
  const item = ledger.see('service', id, name);
  const policyId = textOf(objectOf(service['escalation_policy']), 'id');
  const policy = moved.policies.get(policyId);
  const teamId = objectsOf(service['teams'])
    .map((team) => textOf(team, 'id'))
    .find((team) => moved.teamKey(team) !== null);
  const team = teamId === undefined ? null : moved.teamKey(teamId);
  moved.services.set(id, {
    key: moved.key(id),
    name: nameInFile(name, id),
    capabilities: ['oncall'],
    ...(team !== null && { team }),
    ...(policy !== undefined && { policy: policy.key }),
  });
  item.judge('exact');
  if (policyId !== '' && policy === undefined) {
    item.judge(
      'compiled',
      `Its policy ${textOf(objectOf(service['escalation_policy']), 'summary') || policyId} was not read or is refused, so its alerts page nobody.`,
      'Give it a policy.',
    );
  }
  if (textOf(service, 'status') === 'disabled')
    item.judge(
      'compiled',
      'It is disabled there; here its alerts page.',
      'Send nothing to it, or take its policy away.',
    );
  const [reason, todo] = urgencyLoss(objectOf(service['incident_urgency_rule']));
  if (reason !== '') item.judge('compiled', reason, todo);
  for (const [field, shown] of [
    ['acknowledgement_timeout', 'acknowledgement timeout'],
    ['auto_resolve_timeout', 'automatic resolution'],
  ] as const) {
    if (numberOf(service, field) !== null)
      item.judge('compiled', `Its ${shown} of ${numberOf(service, field)} seconds is not kept.`);
  }
  for (const integration of objectsOf(service['integrations'])) {
    ledger
      .see(
        'integration',
        textOf(integration, 'id'),
        `${name}: ${textOf(integration, 'summary') || textOf(integration, 'name') || textOf(integration, 'type')}`,
      )
      .judge(
        'compiled',
        "Its key is PagerDuty's; senders get the alert key of the service.",
        'Change address and key in the sender when you cut over.',
      );
  }
}

/**
 * Returns what an urgency rule loses and what to do, both empty when nothing is lost: in PagerDuty an incident of low urgency
 * stays on the first step of the policy, and people may be told of it otherwise.
 */
function urgencyLoss(rule: RawObject | null): [reason: string, todo: string] {
  const [type, urgency] = [textOf(rule, 'type'), textOf(rule, 'urgency')];
  if (type === 'use_support_hours') {
    return [
      'Its urgency follows support hours; here a route chooses the policy by severity.',
      'Make a route and a policy with hours.',
    ];
  }
  if (urgency === '' || urgency === 'high') return ['', ''];
  return [
    urgency === 'low'
      ? 'Its incidents are of low urgency, which do not go on to further steps there; here each pages by all steps of its policy.'
      : 'Its urgency follows the severity, and incidents of low urgency do not go on to further steps there; here each pages by all steps of its policy.',
    'Make a route by severity with a policy of one step.',
  ];
}

function addMaintenance(moved: Moved, window: RawObject): void {
  const id = textOf(window, 'id');
  const name = textOf(window, 'description') || textOf(window, 'summary') || `Maintenance ${id}`;
  const item = moved.ledger.see('maintenance', id, name);
  const [from, to] = [instantOf(textOf(window, 'start_time')), instantOf(textOf(window, 'end_time'))];
  if (from === null || to === null || to <= from) {
    item.refuse('Its beginning or end cannot be read.', 'Enter it by hand.');
    return;
  }
  if (to <= moved.since) {
    item.judge('exact', `It ended at ${isoOf(to)}, so nothing is left to do.`);
    return;
  }
  const clock = moved.clock('UTC');
  for (const service of objectsOf(window['services'])) {
    const serviceId = textOf(service, 'id');
    const target = moved.services.get(serviceId);
    if (target === undefined) {
      item.refuse(`Its service ${textOf(service, 'summary') || serviceId} was not read.`, 'Read all services.');
      continue;
    }
    const { times, loss } = maintenanceTimes(clock, from, to);
    moved.maintenance.push({
      key: moved.key(`${id}.${serviceId}`),
      name: nameInFile(name, id),
      service: target.key,
      timezone: 'UTC',
      ...times,
    });
    item.judge(loss === '' ? 'exact' : 'compiled', loss);
  }
  if (moved.ledger.verdictOf('maintenance', id) === null) item.refuse('It names no service.', 'Enter it by hand.');
}
