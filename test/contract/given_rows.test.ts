import { expect, test } from 'vitest';

import type { Id } from '#kernel/ids.ts';
import { CAPABILITIES } from '#modules/capabilities/decide/capability.ts';
import { givenMember, givenPolicy, givenRule, givenTeam } from '#test/kit/given_rows.ts';
import { world } from '#test/kit/world.ts';

const TABLES = [
  'teams',
  'team_members',
  'escalation_policies',
  'alert_rules',
  'services',
  'service_capabilities',
  'ingest_keys',
  'billing_periods',
];

test('what tests write by one statement are the rows that the actions leave', async () => {
  const w = await world();
  const other = await w.forOrganization();
  const phone = '+31612345678';
  const member = (await w.given.user()).userId;
  const otherMember = (await other.given.user()).userId;
  const step = { afterMinutes: 5, channels: ['sms', 'call'] as const };
  const stepOf = (userId: Id<'user'>) => ({ ...step, targetUserIds: [userId] });

  const { teamId } = await w.expectOk('create_team', { name: 'Platform' });
  await w.expectOk('add_team_member', { teamId, userId: member, phone });
  const { policyId } = await w.expectOk('create_escalation_policy', { teamId, name: 'Wake', steps: [stepOf(member)] });
  const { serviceId } = await w.expectOk('create_service', { name: 'checkout' });
  for (const capability of CAPABILITIES) await w.expectOk('enable_capability', { serviceId, capability });
  const config = { metricName: 'latency', comparator: '>', threshold: 100 };
  const rule = { serviceId, name: 'Latency', kind: 'metric_threshold', config, escalationPolicyId: policyId };
  await w.expectOk('create_alert_rule', rule);

  const givenTeamId = await givenTeam(w.context, other.orgId, 'Platform');
  await givenMember(w.context, { teamId: givenTeamId, userId: otherMember, phone });
  const steps = [stepOf(otherMember)];
  const givenPolicyId = await givenPolicy(w.context, { teamId: givenTeamId, name: 'Wake', steps });
  const service = await other.given.service({ name: 'checkout' });
  await givenRule(w.context, { serviceId: service.serviceId, policyId: givenPolicyId });

  // Ids, keys and numbers differ; all else is equal.
  const rowsOf = async (ids: readonly string[]) => {
    const rows = await Promise.all(
      TABLES.map(async (table) => {
        const found = await w.context.db.sql.rows<{ row: string }>(
          `select to_jsonb(r)::text as row from ${table} r where to_jsonb(r)::text like any ($1)`,
          [ids.map((id) => `%${id}%`)],
        );
        return [table, found.map(({ row }) => maskedOf(row)).toSorted()] as const;
      }),
    );
    return Object.fromEntries(rows);
  };
  const left = await rowsOf([teamId, serviceId]);
  expect(Object.values(left).filter((rows) => rows.length === 0)).toEqual([]);
  expect(await rowsOf([givenTeamId, service.serviceId])).toEqual(left);
  expect((await other.expectOk('get_service', { serviceId: service.serviceId })).dsn).toBe(service.dsn);
});

function maskedOf(row: string): string {
  return row
    .replaceAll(/"[a-z]+_[0-9a-z]{26}"/g, '"id"')
    .replaceAll(/"\\\\x[0-9a-f]+"/g, '"bytes"')
    .replace(/"project_id": \d+/, '"project_id": 0');
}
