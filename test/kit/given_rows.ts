import { createCipher } from '#auth/cipher.ts';
import { dsnOf, newIngestKeyPair, sealIngestKeyPair } from '#auth/ingest_access.ts';
import type { AppContext } from '#entry/compose.ts';
import { type Id, newId } from '#kernel/ids.ts';
import { decideEnable } from '#modules/capabilities/decide/billing.ts';
import { type Capability, DEFAULT_RETENTION_DAYS } from '#modules/capabilities/decide/capability.ts';
import type { Channel } from '#modules/contacts/decide/channel.ts';
import { unwrap } from '#modules/contacts/decide/parsed.ts';
import type { RuleKind } from '#modules/rules/decide/rule_kinds.ts';
import { parseRuleConfig } from '#modules/rules/decide/rule_settings.ts';

// What actions leave, by one statement each, but for their lines of the audit log: nearly every test needs some of it, and
// the actions, which have tests of their own, take ten times as many statements; `contract/given_rows.test.ts`
// compares the two.

interface GivenService {
  readonly serviceId: Id<'service'>;
  readonly ingestionKey: string;
  readonly dsn: string;
}

interface ServiceWanted {
  readonly orgId: Id<'org'>;
  readonly name: string;
  readonly capabilities: readonly Capability[];
}

/** Leaves what `create_service` and `enable_capability` leave. */
export async function givenService(
  { clock, config, db }: AppContext,
  { orgId, name, capabilities }: ServiceWanted,
): Promise<GivenService> {
  const now = clock.now();
  const serviceId = newId('service');
  const pair = newIngestKeyPair();
  const { keyHash, dsnKeyHash, secrets } = sealIngestKeyPair(pair, createCipher(config.appSecret, 'ingest-keys'));
  const periods = capabilities.flatMap((capability) => {
    const { period } = decideEnable(capability, null, now);
    return period === null ? [] : [{ id: newId('period'), ...period }];
  });
  const days = DEFAULT_RETENTION_DAYS;
  const { projectId } = (await db.sql.row<{ projectId: number }>(
    `with service as (
       insert into services
         (id, org_id, name, retention_metrics, retention_exceptions, retention_oncall, created_at, updated_at)
       values ($2, $3, $4, $5, $6, $7, $1, $1) returning project_id
     ), ingest_key as (
       insert into ingest_keys (id, org_id, service_id, key_hash, dsn_key_hash, secrets, created_at)
       values ($8, $3, $2, $9, $10, $11, $1)
     ), periods as (
       select * from json_to_recordset($12)
         as p(id text, capability text, "startsAt" timestamptz, "endsAt" timestamptz, "amountCents" int, currency text)
     ), enabled as (
       insert into service_capabilities
         (service_id, capability, is_enabled, enabled_at, billing_anchor, billed_until)
       select $2, capability, true, $1, "startsAt", "endsAt" from periods
     ), billed as (
       insert into billing_periods
         (id, org_id, service_id, service_name, capability, starts_at, ends_at, amount_cents, currency, created_at)
       select id, $3, $2, $4, capability, "startsAt", "endsAt", "amountCents", currency, $1 from periods
     )
     select project_id as "projectId" from service`,
    [
      now.toString(),
      serviceId,
      orgId,
      name,
      days.metrics,
      days.exceptions,
      days.oncall,
      newId('ingestkey'),
      keyHash,
      dsnKeyHash,
      secrets,
      JSON.stringify(periods),
    ],
  ))!;
  return { serviceId, ingestionKey: pair.ingestionKey, dsn: dsnOf(config.baseUrl, pair.dsnKey, projectId) };
}

/** Leaves what `create_team` leaves. */
export async function givenTeam({ clock, db }: AppContext, orgId: Id<'org'>, name: string): Promise<Id<'team'>> {
  const teamId = newId('team');
  await db.sql.run(`insert into teams (id, org_id, name, created_at, updated_at) values ($2, $3, $4, $1, $1)`, [
    clock.now().toString(),
    teamId,
    orgId,
    name,
  ]);
  return teamId;
}

/** Leaves what `add_team_member` leaves: every channel is on. */
export async function givenMember(
  { clock, db }: AppContext,
  { teamId, userId, phone }: { readonly teamId: string; readonly userId: Id<'user'>; readonly phone: string },
): Promise<Id<'member'>> {
  const memberId = newId('member');
  await db.sql.run(
    `insert into team_members (id, org_id, team_id, user_id, phone,
       sms_enabled, call_enabled, push_enabled, email_enabled, sort_order, created_at, updated_at)
     select $2, org_id, id, $4, $5, true, true, true, true,
       (select count(*) from team_members where team_id = $3), $1, $1 from teams where id = $3`,
    [clock.now().toString(), memberId, teamId, userId, phone],
  );
  return memberId;
}

/** A step as tests write it. */
export interface StepInput {
  readonly afterMinutes: number;
  readonly channels: readonly Channel[];
  readonly targetUserIds?: readonly string[];
  readonly useSchedule?: boolean;
}

/** A rule as tests write it: on the average latency by default. */
export interface RuleInput {
  readonly name?: string;
  readonly kind?: RuleKind;
  readonly config?: object;
}

interface PolicyWanted {
  readonly teamId: string;
  readonly name: string;
  readonly steps: readonly StepInput[];
}

/** Leaves what `create_escalation_policy` leaves. */
export async function givenPolicy(
  { clock, db }: AppContext,
  { teamId, name, steps }: PolicyWanted,
): Promise<Id<'policy'>> {
  const policyId = newId('policy');
  const whole = steps.map(({ afterMinutes, channels, targetUserIds = [], useSchedule = false }) => {
    return { afterMinutes, channels, targetUserIds, useSchedule };
  });
  await db.sql.run(
    `insert into escalation_policies (id, org_id, team_id, name, steps, created_at, updated_at)
     select $3, org_id, id, $4, $5, $1, $1 from teams where id = $2`,
    [clock.now().toString(), teamId, policyId, name, JSON.stringify(whole)],
  );
  return policyId;
}

interface RuleWanted extends RuleInput {
  readonly serviceId: Id<'service'>;
  readonly policyId: Id<'policy'>;
}

const LATENCY = { metricName: 'latency', comparator: '>', threshold: 100 };

/** Leaves what `create_alert_rule` leaves. */
export async function givenRule(
  { clock, db }: AppContext,
  { serviceId, policyId, name = 'Latency', kind = 'metric_threshold', config = LATENCY }: RuleWanted,
): Promise<Id<'rule'>> {
  const ruleId = newId('rule');
  const stored = unwrap(parseRuleConfig(kind, config, 'config'));
  await db.sql.run(
    `insert into alert_rules
       (id, org_id, service_id, name, kind, config, escalation_policy_id, enabled, created_at, updated_at)
     select $2, org_id, id, $4, $5, $6, $7, true, $1, $1 from services where id = $3`,
    [clock.now().toString(), ruleId, serviceId, name, kind, JSON.stringify(stored), policyId],
  );
  return ruleId;
}
