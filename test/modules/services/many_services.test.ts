import { beforeAll, expect, test } from 'vitest';

import type { AnyOperation } from '#actions/action_context.ts';
import { getBilling } from '#modules/capabilities/operations/get_billing.ts';
import { getHome } from '#modules/home/operations/get_home.ts';
import { getMe } from '#modules/accounts/operations/me.ts';
import { simulateEscalation } from '#modules/policies/operations/simulate_escalation.ts';
import { previewMaintenance } from '#modules/maintenance/operations/maintenance.ts';
import { searchRules } from '#modules/rules/operations/search_rules.ts';
import { newId } from '#kernel/ids.ts';
import { givenMetrics } from '#test/kit/metrics/given_metrics.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';
import { fileWorld } from '#test/kit/world.ts';

const SERVICES = 1_050;
const RULES = 5_100;

const serviceIds = Array.from({ length: SERVICES }, () => newId('service')).toSorted();
const [firstService, lastService] = [serviceIds[0]!, serviceIds.at(-1)!];
const LAST_RULE = `rule_${String(RULES).padStart(26, '0')}`;

const w = await fileWorld();
// More services, teams of one person, rules, and lines of billing than one answer has.
beforeAll(async () => {
  const { sql } = w.context.db;
  const at = w.clock.now().toString();
  const numbered = `generate_series(1, $3) as n, lpad(n::text, 26, '0') as id`;
  await sql.run(
    `insert into services (id, org_id, name, environment, retention_metrics, retention_exceptions, retention_oncall, created_at, updated_at)
     select id, $1, 'service', 'production', 30, 30, 30, $2::timestamptz, $2::timestamptz from unnest($3::text[]) as id`,
    [w.orgId, at, serviceIds],
  );
  await sql.run(
    `insert into service_capabilities (service_id, capability, is_enabled, enabled_at, billing_anchor, billed_until)
     select id, capability, true, $1::timestamptz, $1::timestamptz, $1::timestamptz + interval '1 month'
     from unnest($2::text[]) as id, unnest(array['metrics', 'oncall']) as capability`,
    [at, serviceIds],
  );
  // The last of them asks for a quantile of a gauge; each service has some.
  await sql.run(
    `insert into alert_rules (id, org_id, service_id, name, kind, config, enabled, created_at, updated_at)
     select 'rule_' || id, $1, ($4::text[])[case when n > $3 - 1010 then 1050 else n % 1000 + 1 end], 'Rule ' || n, 'metric_threshold',
       json_build_object('metricName', case when n = $3 then 'latency{quantile="0.9"}' else 'latency' end, 'comparator', '>',
         'threshold', 1, 'windowMinutes', 5, 'aggregation', 'avg'), true, $2::timestamptz, $2::timestamptz from ${numbered}`,
    [w.orgId, at, RULES, serviceIds],
  );
  // The newest month has more lines than are read.
  await sql.run(
    `insert into billing_periods (id, org_id, service_id, service_name, capability, starts_at, ends_at, amount_cents, currency, created_at)
     select 'period_' || id, $1, 'service_' || id, 'service ' || n, 'metrics',
       case when n > 10 then timestamptz '2027-02-01 00:00Z' else timestamptz '2027-01-31 23:30Z' end,
       timestamptz '2027-03-01 00:00Z', 150, 'EUR', $2::timestamptz from ${numbered}`,
    [w.orgId, at, 10_020],
  );
  await sql.run(
    `insert into teams (id, org_id, name, created_at, updated_at)
     select 'team_' || id, $1, 'Team ' || n, $2::timestamptz, $2::timestamptz from ${numbered}`,
    [w.orgId, at, SERVICES],
  );
  await sql.run(
    `insert into team_members (id, org_id, team_id, user_id, sms_enabled, call_enabled, push_enabled, email_enabled, sort_order, created_at, updated_at)
     select 'member_' || id, $1, 'team_' || id, $4, true, true, true, true, 0, $2::timestamptz, $2::timestamptz from ${numbered}`,
    [w.orgId, at, SERVICES, w.owner.userId],
  );
});

const run = (operation: AnyOperation, input: object) =>
  runOperation(w, operation, memberCaller(w.orgId, w.owner.userId, 'owner'), input);

test('data of the last of over 1,000 services counts, and the rules of it, above 5,000, are looked at', async () => {
  expect((await run(getHome, {})).setup).toMatchObject({ hasData: false, firstServiceId: firstService });
  await givenMetrics(w, lastService, { name: 'latency', minutes: 1, everySeconds: 60, value: () => 1 });
  expect((await run(getHome, {})).setup).toMatchObject({ hasData: true });
  expect((await run(searchRules, { limit: 1 })).counts).toMatchObject({
    waiting_for_data: RULES - 1_010 + 1,
    ok: 1_009,
  });
  const [last] = (await run(searchRules, { ruleIds: [LAST_RULE] })).rules;
  expect(last).toMatchObject({
    state: 'waiting_for_data',
    missingMetric: { noQuantiles: { metricName: 'latency', kind: 'gauge' } },
  });
});

test('a rule beyond the first 1,000 of its service can be simulated, and maintenance counts all of them', async () => {
  const input = { serviceId: lastService, ruleId: LAST_RULE };
  expect(await run(simulateEscalation, input)).toMatchObject({ simulated: { ruleId: LAST_RULE } });
  const foreign = { serviceId: firstService, ruleId: LAST_RULE };
  await expect(run(simulateEscalation, foreign)).rejects.toMatchObject({ code: 'not_found' });
  const maintenance = {
    name: 'Move',
    timezone: 'UTC',
    target: { serviceId: lastService },
    startsAt: w.clock.now().add({ hours: 1 }).toString(),
    endsAt: w.clock.now().add({ hours: 2 }).toString(),
  };
  expect((await run(previewMaintenance, maintenance)).ruleCount).toBe(1_010);
});

test('what a month costs is the sum of all its lines, also of those that are not listed', async () => {
  const { months } = await run(getBilling, {});
  expect(
    months.map(({ month, total, lineCount, lines }: Record<string, unknown[]>) => [
      month,
      total,
      lineCount,
      lines!.length,
    ]),
  ).toEqual([
    ['2027-02', 15_015, 10_010, 10_000],
    ['2027-01', 15, 10, 0],
  ]);
});

test('somebody in over 1,000 teams is told all of them', async () => {
  expect((await run(getMe, {})).teams).toHaveLength(SERVICES);
});
