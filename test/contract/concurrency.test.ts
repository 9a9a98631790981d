import { expect, test } from 'vitest';

import { type Answer, ask } from '#test/contract/ask.ts';
import { buildFixture, type Fixture, trigger } from '#test/contract/fixture.ts';
import { sweep } from '#test/kit/properties.ts';
import { fileWorld } from '#test/kit/world.ts';

const w = await fileWorld();
const fixture = await buildFixture(w);
const doomed = await buildFixture(w);

/** All at once, each a transaction of its own. */
function together(calls: readonly (readonly [action: string, body: object])[]): Promise<Answer[]> {
  return Promise.all(calls.map(([action, body]) => ask(w, action, { body })));
}

async function result(action: string, body: object = {}) {
  return (await ask(w, action, { body })).body.result;
}

function statuses(answers: readonly Answer[]): number[] {
  return answers.map(({ status }) => status).toSorted((a, b) => a - b);
}

const ROUNDS = sweep([0, 1, 2, 3, 4], 3);

test.each(ROUNDS)(
  'updates of different fields of one thing at once are all kept, and all told in the audit log: round %i',
  async (round) => {
    const { serviceId, memberId, ruleId, scheduleId, policyId, dashboardId, userId } = fixture;
    const config = { metricName: `m${round}`, comparator: '<', threshold: round, windowMinutes: 9, aggregation: 'sum' };
    const steps = [{ afterMinutes: round, channels: ['call'], targetUserIds: [userId], useSchedule: false }];
    const fields: Record<string, [object, object[]]> = {
      update_service: [
        { serviceId },
        [{ name: `n${round}` }, { environment: `e${round}` }, { scmOwner: `o${round}` }, { scmRepo: `r${round}` }],
      ],
      update_team_member: [
        { memberId },
        [
          { phone: `+3161234567${round}` },
          { smsEnabled: round % 2 === 0 },
          { callEnabled: round % 2 === 0 },
          { pushEnabled: round % 2 === 0 },
          { emailEnabled: round % 2 === 0 },
          { sortOrder: round },
        ],
      ],
      update_alert_rule: [
        { ruleId },
        [
          { name: `n${round}` },
          { config },
          { enabled: round % 2 === 1 },
          { escalationPolicyId: round % 2 ? policyId : null },
        ],
      ],
      update_schedule: [
        { scheduleId },
        [
          { name: `n${round}` },
          { timezone: round % 2 ? 'Asia/Tokyo' : 'Europe/Paris' },
          { rotationType: round % 2 ? 'daily' : 'weekly' },
          { rotationConfig: { userIds: [userId], shiftHours: round } },
        ],
      ],
      update_escalation_policy: [{ policyId }, [{ name: `n${round}` }, { steps }]],
      update_dashboard: [{ dashboardId }, [{ name: `n${round}` }, { layout: [{ type: `t${round}` }] }]],
    };
    const calls = Object.entries(fields).flatMap(([action, [id, changes]]) =>
      changes.map((change) => [action, { ...id, ...change }] as const),
    );
    const answers = await together(calls);
    expect(answers.map(({ status, text }) => (status === 200 ? 200 : text))).toEqual(calls.map(() => 200));
    for (const [action, [id, changes]] of Object.entries(fields)) {
      expect(await result(action, id), action).toMatchObject(Object.assign({}, ...changes));
    }
  },
);

test.each(ROUNDS)(
  'an incident that is acknowledged and resolved at once ends resolved, once, in either order: round %i',
  async () => {
    await result('resolve_incident', { incidentId: fixture.incidentId });
    const incidentId = await trigger(w, (await result('create_alert_rule', newRule())).ruleId);
    const acts = ['acknowledge_incident', 'resolve_incident'].flatMap((action) => [action, action, action]);
    const answers = await together(acts.map((action) => [action, { incidentId }]));
    const resolves = answers.filter((_, index) => acts[index] === 'resolve_incident');
    const acknowledges = answers.filter((_, index) => acts[index] === 'acknowledge_incident');
    expect(statuses(resolves)).toEqual([200, 200, 200]);
    // Calls that came before the first resolve were taken; later ones are conflicts.
    const outcomes = acknowledges.map(({ status, body }) => (status === 200 ? body.result.status : body.code));
    expect(outcomes.filter((outcome) => outcome !== 'acknowledged' && outcome !== 'conflict')).toEqual([]);
    const incident = await result('get_incident', { incidentId });
    expect(incident.status).toBe('resolved');
    expect(incident.acknowledgedAt !== null).toBe(acknowledges.some(({ status }) => status === 200));
    const events = incident.timeline.map(({ event }: { event: string }) => event);
    expect(events.filter((event: string) => event === 'resolved')).toHaveLength(1);
    expect(events.filter((event: string) => event === 'acknowledged').length).toBeLessThanOrEqual(1);
    const settled = events.filter((event: string) => /acknowledged|resolved/.test(event));
    expect(await auditCount(incidentId, /^(acknowledge|resolve)_incident$/)).toBe(settled.length);
  },
);

function newRule(): object {
  const config = { metricName: 'm', comparator: '>', threshold: 1 };
  return {
    serviceId: fixture.serviceId,
    name: 'x',
    kind: 'metric_threshold',
    config,
    escalationPolicyId: fixture.policyId,
  };
}

async function auditCount(target: string, action = /_capability$/): Promise<number> {
  const rows = await w.context.db.sql.rows<{ action: string }>('select action from audit_log where target = $1', [
    target,
  ]);
  return rows.filter((row) => action.test(row.action)).length;
}

test('enabled many times at once, a capability is enabled once, charged once and audited once', async () => {
  const { serviceId } = await result('create_service', { name: 'x' });
  const enables = ['metrics', 'oncall'].flatMap((capability) =>
    Array.from({ length: 8 }, () => ['enable_capability', { serviceId, capability }] as const),
  );
  expect(statuses(await together(enables))).toEqual(enables.map(() => 200));
  const service = await result('get_service', { serviceId });
  expect(service.capabilities).toEqual(['metrics', 'oncall']);
  expect(service.billing).toHaveLength(2);
  expect(await auditCount(serviceId)).toBe(2);
});

test.each(ROUNDS)(
  'enabled and disabled at once, a capability is one or the other, and charged once: round %i',
  async () => {
    const { serviceId } = await result('create_service', { name: 'x' });
    const body = { serviceId, capability: 'metrics' };
    const acts = Array.from({ length: 8 }, (_, index) =>
      index % 2 === 0 ? 'enable_capability' : 'disable_capability',
    );
    expect(statuses(await together(acts.map((action) => [action, body])))).toEqual(acts.map(() => 200));
    expect((await result('get_service', { serviceId })).billing).toHaveLength(1);
  },
);

test('rotated many times at once, every answer is a pair of its own, and the one that is current is the last', async () => {
  const { serviceId } = await w.given.service();
  const rotations = Array.from({ length: 6 }, () => ['rotate_ingest_key', { serviceId }] as const);
  const answers = await together(rotations);
  expect(statuses(answers)).toEqual(rotations.map(() => 200));
  const keys = answers.map(({ body }) => body.result.ingestionKey as string);
  const dsns = answers.map(({ body }) => body.result.dsn as string);
  expect(new Set(keys).size).toBe(keys.length);
  expect(new Set(dsns).size).toBe(dsns.length);
  const current = await result('get_service', { serviceId });
  expect(dsns[keys.indexOf(current.ingestionKey)]).toBe(current.dsn);
  for (const key of keys) {
    const sent = await w.app.inject({
      method: 'POST',
      url: '/api/ingest/metrics',
      headers: { authorization: `Bearer ${key}` },
      payload: { points: [{ name: 'm', value: 1 }] },
    });
    expect(sent.statusCode).toBe(key === current.ingestionKey ? 202 : 401);
  }
  const rows = await w.context.db.sql.rows<{ revoked: boolean }>(
    'select revoked_at is not null as revoked from ingest_keys where service_id = $1',
    [serviceId],
  );
  expect(rows.filter(({ revoked }) => !revoked)).toHaveLength(1);
});

test.each<readonly [update: string, remove: string, change: object, idName: keyof Fixture, table: string]>([
  // What is deleted takes along what hangs on it, so that comes first.
  ['update_alert_rule', 'delete_alert_rule', { name: 'y' }, 'ruleId', 'alert_rules'],
  ['update_dashboard', 'delete_dashboard', { name: 'y' }, 'dashboardId', 'dashboards'],
  ['update_team_member', 'remove_team_member', { sortOrder: 5 }, 'memberId', 'team_members'],
  ['update_schedule', 'delete_schedule', { name: 'y' }, 'scheduleId', 'schedules'],
  ['update_escalation_policy', 'delete_escalation_policy', { name: 'y' }, 'policyId', 'escalation_policies'],
  ['update_service', 'delete_service', { name: 'y' }, 'serviceId', 'services'],
  ['update_team', 'delete_team', { name: 'y' }, 'teamId', 'teams'],
])(
  '%s and %s at once, a thing is gone, and nothing of it is left or comes back',
  async (update, remove, change, idName, table) => {
    const id = { [idName]: doomed[idName] };
    const acts = [update, update, remove, update, remove, update];
    const answers = await together(acts.map((action) => [action, action === remove ? id : { ...id, ...change }]));
    const removals = answers.filter((_, index) => acts[index] === remove);
    const updates = answers.filter((_, index) => acts[index] === update);
    expect(statuses(removals), remove).toEqual([200, 404]);
    for (const { status } of updates) expect([200, 404], update).toContain(status);
    expect((await ask(w, update, { body: { ...id, ...change } })).status, update).toBe(404);
    const hidden = table === 'services' ? 'and deleted_at is null' : '';
    const left = await w.context.db.sql.rows(`select 1 from ${table} where id = $1 ${hidden}`, [doomed[idName]]);
    expect(left, table).toEqual([]);
    const deletions = await w.context.db.sql.rows(
      "select 1 from audit_log where target = $1 and action = $2 and result = 'done'",
      [doomed[idName], remove],
    );
    expect(deletions, remove).toHaveLength(1);
  },
);

test.each(ROUNDS)('made and deleted at once, what hangs on something never outlives it: round %i', async () => {
  const { teamId } = await result('create_team', { name: 'x' });
  const { policyId } = await result('create_escalation_policy', { teamId, name: 'x', steps: [step()] });
  const { userId, serviceId } = fixture;
  const calls: (readonly [string, object])[] = [
    ['create_schedule', { teamId, name: 'x' }],
    ['create_escalation_policy', { teamId, name: 'x', steps: [step()] }],
    ['add_team_member', { teamId, userId }],
    ['create_alert_rule', { ...newRule(), serviceId, escalationPolicyId: policyId }],
    ['delete_team', { teamId }],
  ];
  const answers = await together(calls);
  for (const { status } of answers) expect([200, 404]).toContain(status);
  expect(answers.at(-1)!.status).toBe(200);
  for (const table of ['schedules', 'escalation_policies', 'team_members']) {
    expect(await w.context.db.sql.rows(`select 1 from ${table} where team_id = $1`, [teamId])).toEqual([]);
  }
  const rule = answers[3]!;
  if (rule.status !== 200) return;
  const { alertRules } = await result('get_service', { serviceId });
  const alertRule = alertRules.find(({ ruleId }: { ruleId: string }) => ruleId === rule.body.result.ruleId);
  expect(alertRule.escalationPolicyId).toBeNull();
});

function step(): object {
  return { afterMinutes: 0, channels: ['sms'] };
}

test('twenty people who join at once get places of their own', async () => {
  const { teamId } = await result('create_team', { name: 'x' });
  const people = await Promise.all(Array.from({ length: 20 }, () => w.given.user()));
  const answers = await together(people.map(({ userId }) => ['add_team_member', { teamId, userId }]));
  expect(statuses(answers)).toEqual(people.map(() => 200));
  const places = answers.map(({ body }) => body.result.sortOrder as number);
  expect(places.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index));
  const { teams } = await result('list_teams');
  const team = teams.find((listed: { teamId: string }) => listed.teamId === teamId);
  expect(team.members.map(({ sortOrder }: { sortOrder: number }) => sortOrder)).toEqual(
    places.toSorted((a, b) => a - b),
  );
});

test('one user who is added many times at once is a member once', async () => {
  const { teamId } = await result('create_team', { name: 'x' });
  const { userId } = await w.given.user();
  const adds = Array.from({ length: 6 }, () => ['add_team_member', { teamId, userId }] as const);
  expect(statuses(await together(adds))).toEqual([200, 409, 409, 409, 409, 409]);
});

test('set to different statuses at once, an exception group has one of them, and the audit log tells each change', async () => {
  const { groupId } = fixture;
  const wanted = ['resolved', 'ignored', 'unresolved', 'resolved', 'ignored'];
  const answers = await together(wanted.map((status) => ['set_exception_status', { groupId, status }]));
  expect(answers.map(({ body }) => body.result.status)).toEqual(wanted);
  const { status } = await result('get_exception_group', { groupId });
  const changes = await w.context.db.sql.rows<{ from: string; to: string }>(
    `select before->>'status' as from, after->>'status' as to from audit_log where target = $1 order by id`,
    [groupId],
  );
  // However they came one after another, what one left the next one found.
  const froms = changes.map(({ from }) => from).toSorted();
  const tos = ['unresolved', ...changes.map(({ to }) => to)];
  tos.splice(tos.lastIndexOf(status), 1);
  expect(froms).toEqual(tos.toSorted());
});
