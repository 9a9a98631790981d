import { type InferEntity, LockMode } from '@mikro-orm/postgresql';

import { notFound } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, PostgresStore, prepared, type Values } from '#storage/postgres/store.ts';
import { AlertRuleEntity } from '#storage/postgres/entities/oncall.ts';
import { saveChanged } from '#storage/postgres/save_changed.ts';

export type AlertRuleRow = InferEntity<typeof AlertRuleEntity>;

export type NewAlertRule = Pick<
  AlertRuleRow,
  'name' | 'kind' | 'config' | 'escalationPolicyId' | 'enabled' | 'settings'
>;

/** A rule by the policy that it pages by. */
export interface RuleOfPolicy {
  readonly policyId: Id<'policy'>;
  readonly ruleId: Id<'rule'>;
  readonly name: string;
  readonly enabled: boolean;
  readonly serviceId: Id<'service'>;
  readonly serviceName: string;
  readonly ruleCount: number;
}

interface RulesOfService {
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
  readonly limit: number;
}

const LIST_OF_SERVICE = prepared((db, { orgId, serviceId, limit }: Values<RulesOfService>) =>
  db
    .selectFrom('alert_rules as r')
    .select(columns(AlertRuleEntity, 'r'))
    .where('r.org_id', '=', orgId)
    .where('r.service_id', '=', serviceId)
    .orderBy('r.id')
    .limit(limit),
);

const FIND_NAMES = prepared((db, { orgId, ruleIds }: Values<{ orgId: Id<'org'>; ruleIds: readonly Id<'rule'>[] }>) =>
  db.selectFrom('alert_rules').select(['id', 'name']).where('org_id', '=', orgId).where('id', '=', anyOf(ruleIds)),
);

/** Rules that turn breaches and new exceptions into incidents. Those of a deleted service are gone with it. */
export class AlertRuleStore extends PostgresStore {
  /** Oldest first. */
  async listOfService(orgId: Id<'org'>, serviceId: Id<'service'>, limit: number): Promise<AlertRuleRow[]> {
    return await LIST_OF_SERVICE.rows(this.session, { orgId, serviceId, limit });
  }

  /** The rules that page by these policies, each policy's first ones by name, with how many it has in all. */
  async listOfPolicies(
    orgId: Id<'org'>,
    policyIds: readonly Id<'policy'>[],
    perPolicy: number,
  ): Promise<RuleOfPolicy[]> {
    const ranked = this.selectFrom('alert_rules as r')
      .innerJoin('services as s', (join) => join.onRef('s.id', '=', 'r.service_id').on('s.deleted_at', 'is', null))
      .select((eb) => [
        'r.id as ruleId',
        'r.name',
        'r.enabled',
        's.id as serviceId',
        's.name as serviceName',
        eb.ref('r.escalation_policy_id').$notNull().as('policyId'),
        eb.fn
          .countAll<number>()
          .over((all) => all.partitionBy('r.escalation_policy_id'))
          .as('ruleCount'),
        eb.fn
          .agg<number>('row_number')
          .over((columns) =>
            columns.partitionBy('r.escalation_policy_id').orderBy('s.name').orderBy('r.name').orderBy('r.id'),
          )
          .as('place'),
      ])
      .where('r.org_id', '=', orgId)
      .where('r.escalation_policy_id', '=', anyOf(policyIds));
    return await this.selectFrom(ranked.as('rule'))
      .select([
        'rule.ruleId',
        'rule.name',
        'rule.enabled',
        'rule.serviceId',
        'rule.serviceName',
        'rule.policyId',
        'rule.ruleCount',
      ])
      .where('rule.place', '<=', perPolicy)
      .orderBy('rule.policyId')
      .orderBy('rule.place')
      .execute();
  }

  async findNames(orgId: Id<'org'>, ruleIds: readonly Id<'rule'>[]): Promise<Map<Id<'rule'>, string>> {
    const rows = ruleIds.length === 0 ? [] : await FIND_NAMES.rows(this.session, { orgId, ruleIds });
    return new Map(rows.map(({ id, name }) => [id, name]));
  }

  /** Counts the rules of each of the services, and those that are enabled and page somebody. */
  async countOfServices(
    orgId: Id<'org'>,
    serviceIds: readonly Id<'service'>[],
  ): Promise<Map<Id<'service'>, { readonly rules: number; readonly paging: number }>> {
    const rows = await this.selectFrom('alert_rules')
      .select(({ fn, cast, eb }) => [
        'service_id as serviceId',
        cast<number>(fn.countAll(), 'integer').as('rules'),
        cast<number>(
          fn.countAll().filterWhere(eb.and([eb('enabled', '=', true), eb('escalation_policy_id', 'is not', null)])),
          'integer',
        ).as('paging'),
      ])
      .where('org_id', '=', orgId)
      .where('service_id', '=', anyOf(serviceIds))
      .groupBy('service_id')
      .execute();
    return new Map(rows.map(({ serviceId, ...counts }) => [serviceId, counts]));
  }

  /** Throws `not_found` with the path of the field that named it. */
  async get(orgId: Id<'org'>, ruleId: string, path = 'ruleId'): Promise<AlertRuleRow> {
    return await this.selectFrom('alert_rules as r')
      .innerJoin('services as s', (join) => join.onRef('s.id', '=', 'r.service_id').on('s.deleted_at', 'is', null))
      .select(columns(AlertRuleEntity, 'r'))
      .where('r.org_id', '=', orgId)
      .where('r.id', '=', asId('rule', ruleId))
      .executeTakeFirstOrThrow(() => notFound(path, 'alert rule'));
  }

  /** The entity, locked until the transaction ends; `get` it first, which also looks at the service. */
  async lock(orgId: Id<'org'>, ruleId: string, path = 'ruleId'): Promise<AlertRuleRow> {
    const rule = await this.em.findOne(
      AlertRuleEntity,
      { orgId, id: asId('rule', ruleId) },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (rule === null) throw notFound(path, 'alert rule');
    return rule;
  }

  async save(rule: AlertRuleRow, now: Temporal.Instant): Promise<void> {
    await saveChanged(this.em, rule, now);
    if (!rule.enabled) await this.#forget(rule.id);
  }

  /** Forgets what evaluations remember of a rule that is disabled: nobody looks whether it goes on. */
  async #forget(ruleId: Id<'rule'>): Promise<void> {
    await this.deleteFrom('rule_memory').where('rule_id', '=', ruleId).execute();
    await this.deleteFrom('rule_part_memory').where('rule_id', '=', ruleId).execute();
  }

  /** The caller holds the locks on the service and on the policy. */
  async insert(
    service: { readonly orgId: Id<'org'>; readonly id: Id<'service'> },
    rule: NewAlertRule,
    now: Temporal.Instant,
  ): Promise<AlertRuleRow> {
    const { em } = this.session;
    const row = em.create(AlertRuleEntity, {
      id: newId('rule'),
      orgId: service.orgId,
      serviceId: service.id,
      ...rule,
      createdAt: now,
      updatedAt: now,
    });
    await em.persist(row).flush();
    return row;
  }

  /** Disables the rule: it is evaluated no longer, until somebody enables it again. */
  async disable(ruleId: Id<'rule'>, now: Temporal.Instant): Promise<void> {
    await this.updateTable('alert_rules').set({ enabled: false, updated_at: now }).where('id', '=', ruleId).execute();
    await this.#forget(ruleId);
  }

  /** An open incident of the rule stays, for people to resolve. */
  async delete(rule: AlertRuleRow): Promise<void> {
    await this.em.remove(rule).flush();
  }

  /** Leaves the rules of these policies without one; the caller holds the locks on the policies. The ids, sorted. */
  async detach(orgId: Id<'org'>, policyIds: readonly Id<'policy'>[], now: Temporal.Instant): Promise<Id<'rule'>[]> {
    const rules = await this.updateTable('alert_rules')
      .set({ escalation_policy_id: null, updated_at: now })
      .where('org_id', '=', orgId)
      .where('escalation_policy_id', '=', anyOf(policyIds))
      .returning('id')
      .execute();
    return rules.map(({ id }) => id).sort();
  }
}
