import { type Expression, sql } from 'kysely';

import { RULE_KINDS, type RuleKind } from '#modules/rules/decide/rule_kinds.ts';
import type { StoredSettings } from '#modules/rules/decide/rule_settings.ts';
import { WINDOW_MINUTES_MAX } from '#modules/metrics/decide/limits.ts';
import type { RuleMemory } from '#modules/rules/decide/breach.ts';
import type { MetricThreshold } from '#modules/rules/decide/metric_threshold.ts';
import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import { areSteps, readSteps } from '#modules/policies/decide/stored_steps.ts';
import { SHARDS } from '#storage/queue/shards.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';
import {
  anyOf,
  columns,
  field,
  holdLock,
  PostgresStore,
  prepared,
  type Row,
  rowsOf,
  type Values,
} from '#storage/postgres/store.ts';
import { type OpenIncident, openIncidents } from '#modules/rules/store/rule_conclusions.ts';
import { AlertRuleEntity } from '#storage/postgres/entities/oncall.ts';

const RULE = ['orgId', 'serviceId', 'name', 'config', 'settings'] as const;

/** A rule that is being evaluated, with the policy it pages by. */
export type ActiveRule = Pick<Row<typeof AlertRuleEntity>, (typeof RULE)[number]> & {
  readonly ruleId: Id<'rule'>;
  readonly escalationPolicyId: Id<'policy'> | null;
  readonly teamId: Id<'team'> | null;
  /** Empty without a policy: the incident then pages nobody. */
  readonly steps: readonly EscalationStep[];
  /** The policy has other steps than these, which stand for them. */
  readonly isPolicyUnreadable?: true;
};

/** Fields of an active metric rule that its evaluation needs. */
export interface MetricCheck extends RuleMemory {
  readonly ruleId: Id<'rule'>;
  readonly serviceId: Id<'service'>;
  readonly config: MetricThreshold;
  readonly settings: StoredSettings | null;
  /** Time for which the service keeps points, in days. */
  readonly retentionDays: number;
}

/** Changes to the memory of a metric rule's incident. */
interface ClearChange {
  readonly incidentId: Id<'incident'>;
  readonly ruleId: Id<'rule'>;
  readonly dedupKey: string;
  /** Whether it is that of a storm, which remembers it of each rule that it stands for. */
  readonly isMember: boolean;
  readonly before: Temporal.Instant | null;
  readonly since: Temporal.Instant | null;
}

type Windows = { readonly min: number; readonly max: number };
type Limit = { readonly limit: number };
type Shards = { readonly shards: readonly number[] };

const METRIC_CHECKS = prepared((db, values: Values<Windows & Limit>) => metricChecks(db, values).limit(values.limit));

const METRIC_CHECKS_OF_SHARDS = prepared((db, values: Values<Windows & Limit & Shards>) =>
  metricChecks(db, values)
    .where((eb) => isOfShards(eb.ref('r.service_id'), eb.ref('r.config'), values.shards))
    .limit(values.limit),
);

const OPEN_INCIDENTS = prepared((db, { kind }: Values<{ kind: RuleKind }>) => openIncidents(db, kind));

const OPEN_INCIDENTS_OF_RULES = prepared(
  (db, { kind, ruleIds }: Values<{ kind: RuleKind; ruleIds: readonly Id<'rule'>[] }>) =>
    openIncidents(db, kind).where(({ ref }) => sql<boolean>`${ref('open.ruleId')} = any(${ruleIds}::text[])`),
);

/** Filter of active rules; rules of every service if `serviceIds` is left out. */
type Wanted = { readonly ruleId?: Id<'rule'>; readonly serviceIds?: readonly Id<'service'>[] };

/** Rules that are enabled and whose service has `oncall` and the capability that feeds them. */
export class ActiveRuleStore extends PostgresStore {
  /**
   * Lists the rules to evaluate with windows of `windowMinutes.min` up to `windowMinutes.max`, of these shards or of all.
   * Rules over one metric of a service are of one shard, so that its points are read by one process.
   */
  async listMetricChecks(
    windowMinutes: Windows,
    shards: readonly number[] | null = null,
    limit: number = Number.MAX_SAFE_INTEGER,
  ): Promise<MetricCheck[]> {
    return shards === null
      ? await METRIC_CHECKS.rows(this.session, { ...windowMinutes, limit })
      : await METRIC_CHECKS_OF_SHARDS.rows(this.session, { ...windowMinutes, shards, limit });
  }

  /** Counts the rules that `listMetricChecks` can list of each of these shards, or of all, whatever their windows. */
  async countMetricChecks(shards: readonly number[] | null): Promise<Map<number, number>> {
    const counted = await this.selectFrom('alert_rules as r')
      .where('r.kind', '=', 'metric_threshold')
      .where('r.enabled', '=', true)
      .$if(shards !== null, (query) =>
        query.where((eb) => isOfShards(eb.ref('r.service_id'), eb.ref('r.config'), sql`${shards}`)),
      )
      .select((eb) => [
        sql<number>`coalesce(${shardOf(eb.ref('r.service_id'), eb.ref('r.config'))}, ${sql.lit(NAMELESS_SHARD)})::int`.as(
          'shard',
        ),
        eb.fn.countAll<number>().as('rules'),
      ])
      .groupBy('shard')
      .execute();
    return new Map(counted.map(({ shard, rules }) => [shard, rules]));
  }

  async list(kind: RuleKind, { ruleId, serviceIds }: Wanted = {}): Promise<ActiveRule[]> {
    let rules = this.#rules(kind);
    if (ruleId !== undefined) rules = rules.where('r.id', '=', ruleId);
    if (serviceIds !== undefined) rules = rules.where('r.service_id', '=', anyOf(serviceIds));
    return (await rules.execute()).map((rule) =>
      areSteps(rule.steps) ? rule : { ...rule, steps: readSteps(rule.steps), isPolicyUnreadable: true },
    );
  }

  /** Decisions about a rule's incident are made under this lock, one after the other, until the transaction ends. */
  async lockDecision(ruleId: Id<'rule'>): Promise<void> {
    await holdLock(this.session, `decide ${ruleId}`);
  }

  /** Lists the open incidents of all rules of a kind that have one, or of these rules. */
  async listOpenIncidents(kind: RuleKind, ruleIds: readonly Id<'rule'>[] | null = null): Promise<OpenIncident[]> {
    return ruleIds === null
      ? await OPEN_INCIDENTS.rows(this.session, { kind })
      : await OPEN_INCIDENTS_OF_RULES.rows(this.session, { kind, ruleIds });
  }

  /** The incident that is open under this key, of a rule or of a part of it. */
  async findOpenIncident(kind: RuleKind, ruleId: Id<'rule'>, dedupKey: string): Promise<OpenIncident | null> {
    const open = openIncidents(this.db, kind).where('open.ruleId', '=', ruleId).where('open.dedupKey', '=', dedupKey);
    return (await open.executeTakeFirst()) ?? null;
  }

  /** Counts the open incidents of a rule under keys that begin so. */
  async countOpenIncidents(kind: RuleKind, ruleId: Id<'rule'>, keyStart: string): Promise<number> {
    const { count } = await openIncidents(this.db, kind)
      .clearSelect()
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('open.ruleId', '=', ruleId)
      .where(({ fn, val }) => fn<boolean>('starts_with', ['open.dedupKey', val(keyStart)]))
      .executeTakeFirstOrThrow();
    return count;
  }

  /**
   * Notes since when the conditions of metric rules have been false, null for true, where that is still as it was
   * `before`.
   */
  async setClearSince(changes: readonly ClearChange[]): Promise<void> {
    const [members, keyChanges] = [true, false].map((isMember) =>
      changes.filter((change) => change.isMember === isMember),
    );
    if (keyChanges !== undefined && keyChanges.length > 0) {
      await this.updateTable('incidents as i')
        .from(changesOf(keyChanges))
        .set((eb) => ({ clear_since: eb.ref('c.since') }))
        .whereRef('i.id', '=', 'c.incident_id')
        .where('i.status', '<>', 'resolved')
        .whereRef('i.clear_since', 'is not distinct from', 'c.before')
        .execute();
    }
    if (members !== undefined && members.length > 0) {
      await this.updateTable('incident_members as m')
        .from(changesOf(members))
        .set((eb) => ({ clear_since: eb.ref('c.since') }))
        .whereRef('m.incident_id', '=', 'c.incident_id')
        .whereRef('m.dedup_key', '=', 'c.dedup_key')
        .where('m.ended_at', 'is', null)
        .whereRef('m.clear_since', 'is not distinct from', 'c.before')
        .execute();
    }
  }

  /**
   * Counts the incidents that were opened under a key of the rule within these minutes up to `until`, no further than `most`.
   */
  async countOpened(
    { ruleId, dedupKey }: Pick<OpenIncident, 'ruleId' | 'dedupKey'>,
    until: Temporal.Instant,
    minutes: number,
    most: number,
  ): Promise<number> {
    const opened = await this.selectFrom('incidents')
      .select('id')
      .where('rule_id', '=', ruleId)
      .where('dedup_key', '=', dedupKey)
      .where('triggered_at', '>', until.subtract({ minutes }))
      .where('triggered_at', '<=', until)
      .limit(most)
      .execute();
    return opened.length;
  }

  #rules(kind: RuleKind) {
    return active(this.db, kind)
      .leftJoin('escalation_policies as p', 'p.id', 'r.escalation_policy_id')
      .select(columns(AlertRuleEntity, 'r', RULE))
      .select((eb) => [
        'r.id as ruleId',
        'p.id as escalationPolicyId',
        'p.team_id as teamId',
        sql<readonly EscalationStep[]>`coalesce(${eb.ref('p.steps')}, '[]')`.as('steps'),
      ])
      .orderBy('r.id');
  }
}

function active(db: Session['db'], kind: RuleKind) {
  return db
    .selectFrom('alert_rules as r')
    .innerJoin('services as s', (join) => join.onRef('s.id', '=', 'r.service_id').on('s.deleted_at', 'is', null))
    .innerJoin('service_capabilities as o', (join) =>
      join.onRef('o.service_id', '=', 's.id').on('o.capability', '=', 'oncall').on('o.is_enabled', '=', true),
    )
    .innerJoin('service_capabilities as f', (join) =>
      join
        .onRef('f.service_id', '=', 's.id')
        .on('f.capability', '=', RULE_KINDS[kind].fedBy)
        .on('f.is_enabled', '=', true),
    )
    .where('r.enabled', '=', true)
    .where('r.kind', '=', kind);
}

function metricChecks(db: Session['db'], { min, max }: Values<Windows>) {
  return active(db, 'metric_threshold')
    .leftJoin('rule_memory as m', 'm.rule_id', 'r.id')
    .select([
      'r.id as ruleId',
      's.id as serviceId',
      'r.config',
      'r.settings',
      's.retention_metrics as retentionDays',
      'm.breached_since as breachedSince',
      'm.silent_since as silentSince',
      'm.missing_since as missingSince',
    ])
    .where((eb) => {
      const minutes = sql`(${field(eb.ref('r.config'), 'windowMinutes')})`;
      // A rule that cannot be read is listed with the shortest: it is set aside, and keeps none from being listed.
      return sql<boolean>`case when ${minutes} ~ '^[0-9]{1,9}$'
        then least(greatest(${minutes}::int, 1), ${sql.lit(WINDOW_MINUTES_MAX)}) else 1 end between ${min} and ${max}`;
    })
    .$narrowType<{ config: MetricThreshold }>();
}

function isOfShards(serviceId: Expression<string>, config: Expression<object>, shards: Expression<unknown>) {
  const shard = shardOf(serviceId, config);
  return sql<boolean>`(${shard} = any(${shards}::bigint[]) or (${shard} is null and ${sql.lit(NAMELESS_SHARD)} = any(${shards}::bigint[])))`;
}

/** Part of rules without the name of a metric, which cannot be read: they are listed to be set aside. */
const NAMELESS_SHARD = 0;

/**
 * The shard of a rule follows from its service and the name of its metric, whichever labels it selects. The index
 * `alert_rules_by_part` is of this expression.
 */
function shardOf(serviceId: Expression<string>, config: Expression<object>) {
  const metric = sql`split_part(${field(config, 'metricName')}, '{', 1)`;
  return sql<number>`(hashtextextended(${serviceId} || ' ' || ${metric}, 0) & ${sql.lit(SHARDS - 1)})`;
}

function changesOf(changes: readonly ClearChange[]) {
  return rowsOf('c', {
    incident_id: ['text', changes.map(({ incidentId }) => incidentId)],
    dedup_key: ['text', changes.map(({ dedupKey }) => dedupKey)],
    before: ['timestamptz', changes.map(({ before }) => before)],
    since: ['timestamptz', changes.map(({ since }) => since)],
  });
}
