import type { JobWorld } from './world.ts';
import { McpSession } from '#infra/bench/night_shift/mcp_session.ts';

/**
 * An agent without a model. It says what it means in the words of its task (names where ids are wanted, `ack_incident`),
 * goes on with the call that a refusal spells out, and looks ids up where it does not.
 */
export class Agent {
  readonly session: McpSession;
  wrong = 0;

  constructor(baseUrl: string, key: string) {
    this.session = new McpSession(baseUrl, key);
  }

  /** Returns the answer to the call, or to the call that its refusal proposes; null if it proposes none. */
  async ask<Result>(name: string, input: object): Promise<Result | null> {
    const { text, result } = await this.session.call(name, input);
    if (result !== undefined) return result as Result;
    this.wrong += 1;
    const [, tool, json] = /Call instead: (\w+) (.*)$/m.exec(text) ?? [];
    if (tool === undefined || json === undefined) return null;
    const again = await this.session.call(tool, JSON.parse(json) as object);
    if (again.result === undefined) this.wrong += 1;
    return (again.result as Result | undefined) ?? null;
  }

  /** Does the same as `ask`, and throws if there is no answer. */
  async must<Result>(name: string, input: object): Promise<Result> {
    const result = await this.ask<Result>(name, input);
    if (result === null) throw new NotPossible(`${name} was refused`);
    return result;
  }
}

/** The job cannot be done with what the tools tell. */
export class NotPossible extends Error {}

/** A job of an agent over MCP; what came of it, in words. */
export interface Job {
  readonly name: string;
  /** Returns null when the answer is right, and else what is wrong with it. */
  readonly run: (agent: Agent, world: JobWorld) => Promise<string | null>;
}

interface Teams {
  readonly teams: readonly {
    readonly teamId: string;
    readonly name: string;
    readonly schedules: readonly { readonly scheduleId: string; readonly name: string }[];
  }[];
  readonly people?: readonly { readonly userId: string; readonly name: string }[];
}

interface OnCall {
  readonly onCall: readonly { readonly name: string }[];
  readonly warnings: readonly unknown[];
  readonly schedules: readonly {
    readonly onCall: { readonly name: string } | null;
    readonly until: string | null;
    readonly next: { readonly name: string } | null;
    readonly shifts?: readonly { readonly name: string; readonly since: string; readonly until: string | null }[];
    readonly overrides?: readonly { readonly name: string; readonly startAt: string }[];
  }[];
}

interface Group {
  readonly groupId: string;
  readonly title: string;
  readonly type: string | null;
  readonly firstSeenAt: string;
}

interface GroupDetails extends Group {
  readonly firstBadRelease?: string | null;
  readonly byRelease?: readonly { readonly release: string | null; readonly eventCount: number }[];
  readonly recentEvents: readonly { readonly release: string | null }[];
}

export const JOBS: readonly Job[] = [
  { name: 'set-up from nothing', run: setUp },
  { name: 'night triage', run: triage },
  { name: 'next Sunday 03:00', run: sunday },
  { name: 'swap', run: swap },
  { name: 'compare releases', run: compare },
  { name: 'noisy rules', run: noisy },
];

/** "Watch the new service shop; Anna and Bram take turns, and are woken when it is slower than 800 ms." */
async function setUp(agent: Agent): Promise<string | null> {
  const { serviceId } = await agent.must<{ serviceId: string }>('create_service', {
    name: 'shop',
    environment: 'production',
  });
  for (const capability of ['metrics', 'oncall']) await agent.must('enable_capability', { serviceId, capability });
  const { teamId } = await agent.must<{ teamId: string }>('create_team', { name: 'Shop' });
  const userIds: string[] = [];
  for (const [index, name] of ['Anna', 'Bram'].entries()) {
    const phone = `+3161000000${index}`;
    const member =
      (await agent.ask<{ userId: string }>('add_team_member', { teamId, userId: name, phone })) ??
      (await agent.must<{ userId: string }>('add_team_member', { teamId, userId: await personId(agent, name), phone }));
    userIds.push(member.userId);
  }
  await agent.must('create_schedule', {
    teamId,
    name: 'Primary',
    timezone: 'Europe/Amsterdam',
    rotationType: 'weekly',
    rotationConfig: { userIds },
  });
  const { policyId } = await agent.must<{ policyId: string }>('create_escalation_policy', {
    teamId,
    name: 'Wake somebody',
    steps: [
      { afterMinutes: 0, channels: ['sms'], useSchedule: true },
      { afterMinutes: 15, channels: ['call'], targetUserIds: userIds },
    ],
  });
  const rule = (comparator: string) => ({
    serviceId,
    name: 'Slow',
    kind: 'metric_threshold',
    config: { metricName: 'latency_ms', comparator, threshold: 800, windowMinutes: 5, aggregation: 'avg' },
    escalationPolicyId: policyId,
  });
  // As models write it.
  if ((await agent.ask('create_alert_rule', rule('above'))) === null) {
    await agent.must('create_alert_rule', rule('>'));
  }
  const { onCall, warnings } = await agent.must<OnCall>('who_is_on_call', { teamId });
  if (warnings.length > 0) return `${warnings.length} warnings are left`;
  return ['Anna', 'Bram'].includes(onCall[0]?.name ?? '') ? null : 'nobody is on call';
}

/** "Errors at night: what broke it? Acknowledge it once you know." */
async function triage(agent: Agent, world: JobWorld): Promise<string | null> {
  const { incidents } = await agent.must<{ incidents: { incidentId: string; kind: string; serviceId: string }[] }>(
    'list_incidents',
    { status: 'triggered' },
  );
  const incident = incidents.find(({ kind }) => kind === 'metric_threshold');
  if (incident === undefined) return 'the incident is not in the list';
  const { incidentId, serviceId } = incident;
  const { evidence } = await agent.must<{ evidence?: { deploys: { release: string }[] | null } | null }>(
    'get_incident',
    { incidentId },
  );
  const [deploy] = evidence?.deploys ?? [];
  const release = deploy?.release ?? (await releaseByExceptions(agent, serviceId));
  const ack = await agent.ask('ack_incident', { incidentId });
  const after = ack ?? (await agent.must('acknowledge_incident', { incidentId }));
  if ((after as { status: string }).status !== 'acknowledged') return 'the incident is not acknowledged';
  return release === world.badRelease ? null : `blamed ${release ?? 'nothing'}`;
}

/** The release of all events of the newest group, when an older group was there before it. */
async function releaseByExceptions(agent: Agent, serviceId: string): Promise<string | null> {
  const { groups } = await agent.must<{ groups: Group[] }>('list_exception_groups', { serviceId });
  const [newest] = groups.toSorted((a, b) => (a.firstSeenAt < b.firstSeenAt ? 1 : -1));
  if (newest === undefined) return null;
  const { firstBadRelease, recentEvents } = await agent.must<GroupDetails>('get_exception_group', {
    groupId: newest.groupId,
  });
  return firstBadRelease ?? recentEvents.at(-1)?.release ?? null;
}

/** "Who is on call on Sunday at three in the morning?" */
async function sunday(agent: Agent, world: JobWorld): Promise<string | null> {
  const { at, name } = world.sunday;
  const [schedule] = (await onCallOf(agent, world.teamName)).schedules;
  if (schedule === undefined) return 'there is no schedule';
  const shift = schedule.shifts?.find(({ since, until }) => since <= at && (until === null || at < until));
  const told =
    schedule.shifts === undefined
      ? schedule.until === null || at < schedule.until
        ? schedule.onCall?.name
        : schedule.next?.name
      : shift?.name;
  return told === name ? null : `answered ${told ?? 'nobody'}, and it is ${name}`;
}

/** "Bram stands in tomorrow." */
async function swap(agent: Agent, world: JobWorld): Promise<string | null> {
  const { startAt, endAt, name } = world.swap;
  const window = { startAt, endAt };
  const named = { scheduleId: world.scheduleName, userId: name, ...window };
  if ((await agent.ask('create_schedule_override', named)) === null) {
    const { teams } = await agent.must<Teams>('list_teams', {});
    const team = teams.find((team) => team.name === world.teamName);
    const schedule = team?.schedules.find((schedule) => schedule.name === world.scheduleName);
    const ids = { scheduleId: schedule?.scheduleId, userId: await personId(agent, name) };
    await agent.must('create_schedule_override', { ...ids, ...window });
  }
  const [schedule] = (await onCallOf(agent, world.teamName)).schedules;
  if (schedule?.overrides === undefined) return 'done, and cannot be checked: overrides are not shown';
  return schedule.overrides.some((shift) => shift.name === name && shift.startAt === startAt) ? null : 'not there';
}

/** "Which exceptions became more with the last release, and by how much?" */
async function compare(agent: Agent, world: JobWorld): Promise<string | null> {
  const { before, after } = world.releases;
  const { groups } = await agent.must<{ groups: Group[] }>('list_exception_groups', { serviceId: world.serviceId });
  for (const { groupId, title } of groups) {
    const { byRelease, recentEvents } = await agent.must<GroupDetails>('get_exception_group', { groupId });
    const count = (wanted: string) =>
      byRelease === undefined
        ? recentEvents.filter(({ release }) => release === wanted).length
        : byRelease.filter(({ release }) => release === wanted).reduce((sum, { eventCount }) => sum + eventCount, 0);
    const type = [...world.counts.keys()].find((candidate) => title.startsWith(candidate));
    const [older, newer] = world.counts.get(type ?? '') ?? [0, 0];
    const counts = [count(before), count(after)];
    if (counts[0] !== older || counts[1] !== newer) {
      return `counted ${counts.join(' and ')} of ${type ?? title}, and it is ${older} and ${newer}`;
    }
  }
  return groups.length === world.counts.size ? null : `${groups.length} of ${world.counts.size} groups`;
}

/** "Which rule wakes us for nothing?" */
async function noisy(agent: Agent, world: JobWorld): Promise<string | null> {
  const { last24Hours } = await agent.must<{ last24Hours?: { ruleName: string | null; count: number }[] }>(
    'list_incidents',
    {},
  );
  if (last24Hours === undefined) throw new NotPossible('no answer has the names of rules');
  const [noisiest] = last24Hours;
  return noisiest?.ruleName === world.noisyRule ? null : `named ${noisiest?.ruleName ?? 'none'}`;
}

async function onCallOf(agent: Agent, teamName: string): Promise<OnCall> {
  const onCall = await agent.ask<OnCall>('who_is_on_call', { teamId: teamName });
  if (onCall !== null) return onCall;
  const { teams } = await agent.must<Teams>('list_teams', {});
  const teamId = teams.find(({ name }) => name === teamName)?.teamId;
  return await agent.must<OnCall>('who_is_on_call', { teamId });
}

async function personId(agent: Agent, name: string): Promise<string> {
  const { people } = await agent.must<Teams>('list_teams', {});
  const person = people?.find((candidate) => candidate.name === name);
  if (person === undefined) throw new NotPossible('no answer has the ids of people');
  return person.userId;
}
