import type { MetricThreshold } from '#core/metrics/metric_threshold.ts';
import type { EscalationStep } from '#core/oncall/escalation.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** A rule that is being evaluated, with the policy it pages by. */
export interface ActiveRule {
  readonly ruleId: Id<'rule'>;
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
  readonly name: string;
  readonly config: unknown;
  readonly escalationPolicyId: Id<'policy'> | null;
  readonly teamId: Id<'team'> | null;
  /** Empty without a policy: the incident then pages nobody. */
  readonly steps: readonly EscalationStep[];
}

/** As much of an active metric rule as its evaluation needs. */
export interface MetricCheck {
  readonly ruleId: Id<'rule'>;
  readonly serviceId: Id<'service'>;
  readonly config: MetricThreshold;
  /** How long the service keeps points. */
  readonly retentionDays: number;
}

/** An incident that a rule has opened and that is not resolved. */
export interface OpenIncident {
  readonly incidentId: Id<'incident'>;
  readonly ruleId: Id<'rule'>;
  /** When a breach was last counted in its occurrences. */
  readonly countedAt: Temporal.Instant;
  /** Since when its condition has been false, with data; null while it is true. */
  readonly clearSince: Temporal.Instant | null;
  /** True when the incident is a storm that stands for this rule among others. */
  readonly isMember: boolean;
}

const ACTIVE = `from alert_rules r
  join services s on s.id = r.service_id and s.deleted_at is null
  join service_capabilities o on o.service_id = s.id and o.capability = 'oncall' and o.is_enabled
  left join escalation_policies p on p.id = r.escalation_policy_id`;

const FED_BY_METRICS = `${ACTIVE}
  join service_capabilities f on f.service_id = s.id and f.capability = 'metrics' and f.is_enabled
  where r.enabled and r.kind = 'metric_threshold'`;

const OPEN_INCIDENTS = `select * from (
  select id as "incidentId", rule_id as "ruleId", counted_at as "countedAt", clear_since as "clearSince",
    false as "isMember" from incidents
  where status <> 'resolved' and storm_until is null and kind = 'metric_threshold' and rule_id is not null
  union all
  select incident_id, rule_id, counted_at, clear_since, true from incident_members
  where ended_at is null and kind = 'metric_threshold' and rule_id is not null) open`;

const COLUMNS = `r.id as "ruleId", r.org_id as "orgId", r.service_id as "serviceId", r.name, r.config,
  p.id as "escalationPolicyId", p.team_id as "teamId", coalesce(p.steps, '[]') as steps`;

/** Rules that are enabled and whose service has `oncall` and the capability that feeds them (decisions §5). */
export class ActiveRuleStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** What is to be evaluated, with windows of `windowMinutes.min` up to `windowMinutes.max`. */
  async listMetricChecks(windowMinutes: { readonly min: number; readonly max: number }): Promise<MetricCheck[]> {
    return await this.#session.sql.rows(
      `select r.id as "ruleId", s.id as "serviceId", r.config, s.retention_metrics as "retentionDays" ${FED_BY_METRICS}
         and (r.config->>'windowMinutes')::int between $1 and $2`,
      [windowMinutes.min, windowMinutes.max],
    );
  }

  /** Those of the metric rules named that are active; all of them for null. */
  async listMetricRules(ruleIds: readonly Id<'rule'>[] | null = null): Promise<ActiveRule[]> {
    return await this.#session.sql.rows(
      `select ${COLUMNS} ${FED_BY_METRICS} and ($1::text[] is null or r.id = any($1)) order by r.id`,
      [ruleIds],
    );
  }

  /** Whoever decides about a rule's incident does it under this lock, one after the other, until the transaction ends. */
  async lockDecision(ruleId: Id<'rule'>): Promise<void> {
    await this.#session.sql.run("select pg_advisory_xact_lock(hashtextextended('decide ' || $1, 0))", [ruleId]);
  }

  async listExceptionRules(serviceIds: readonly Id<'service'>[]): Promise<ActiveRule[]> {
    return await this.#session.sql.rows(
      `select ${COLUMNS} ${ACTIVE}
       join service_capabilities f on f.service_id = s.id and f.capability = 'exceptions' and f.is_enabled
       where r.enabled and r.kind = 'exception' and r.service_id = any($1) order by r.id`,
      [serviceIds],
    );
  }

  async listOpenMetricIncidents(): Promise<OpenIncident[]> {
    return await this.#session.sql.rows(OPEN_INCIDENTS);
  }

  async findOpenIncident(ruleId: Id<'rule'>): Promise<OpenIncident | null> {
    return await this.#session.sql.row(`${OPEN_INCIDENTS} where "ruleId" = $1`, [ruleId]);
  }
}
