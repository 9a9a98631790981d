import { defineEntity, type InferEntity, LockMode, p } from '@mikro-orm/postgresql';

import type { RuleKind } from '#core/incidents/rule_kinds.ts';
import type { RuleConfig } from '#core/incidents/rule_kinds.ts';
import { notFound } from '#kernel/errors.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';
import { instant } from '#storage/postgres/instant_type.ts';
import { saveChanged } from '#storage/postgres/save_changed.ts';

export const AlertRuleEntity = defineEntity({
  name: 'AlertRule',
  tableName: 'alert_rules',
  properties: {
    id: p.text().primary().$type<Id<'rule'>>(),
    orgId: p.text().$type<Id<'org'>>(),
    serviceId: p.text().$type<Id<'service'>>(),
    name: p.text(),
    kind: p.text().$type<RuleKind>(),
    config: p.json().$type<RuleConfig>(),
    escalationPolicyId: p.text().strictNullable().$type<Id<'policy'> | null>(),
    enabled: p.boolean(),
    createdAt: instant(),
    updatedAt: instant(),
  },
});

export type AlertRuleRow = InferEntity<typeof AlertRuleEntity>;

export type NewAlertRule = Pick<AlertRuleRow, 'name' | 'kind' | 'config' | 'escalationPolicyId' | 'enabled'>;

const RULE_COLUMNS = `id, org_id as "orgId", service_id as "serviceId", name, kind, config,
  escalation_policy_id as "escalationPolicyId", enabled, created_at as "createdAt", updated_at as "updatedAt"`;

/** Rules that turn breaches and new exceptions into incidents. Those of a deleted service are gone with it. */
export class AlertRuleStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Oldest first. */
  async listOfService(orgId: Id<'org'>, serviceId: Id<'service'>, limit: number): Promise<AlertRuleRow[]> {
    return await this.#session.sql.rows(
      `select ${RULE_COLUMNS} from alert_rules where org_id = $1 and service_id = $2 order by id limit $3`,
      [orgId, serviceId, limit],
    );
  }

  /** Throws `not_found` with the path of the field that named it. */
  async get(orgId: Id<'org'>, ruleId: string, path = 'ruleId'): Promise<AlertRuleRow> {
    const rule = await this.#session.sql.row<AlertRuleRow>(
      `select ${RULE_COLUMNS} from alert_rules r where org_id = $1 and id = $2
         and exists (select 1 from services s where s.id = r.service_id and s.deleted_at is null)`,
      [orgId, ruleId],
    );
    if (rule === null) throw notFound(path, 'alert rule');
    return rule;
  }

  /** The entity, locked until the transaction ends; `get` it first, which also looks at the service. */
  async lock(orgId: Id<'org'>, ruleId: string, path = 'ruleId'): Promise<AlertRuleRow> {
    const rule = await this.#session.em.findOne(
      AlertRuleEntity,
      { orgId, id: ruleId as Id<'rule'> },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (rule === null) throw notFound(path, 'alert rule');
    return rule;
  }

  async save(rule: AlertRuleRow, now: Temporal.Instant): Promise<void> {
    await saveChanged(this.#session.em, rule, now);
  }

  /** The caller holds the locks on the service and on the policy. */
  async insert(
    service: { readonly orgId: Id<'org'>; readonly id: Id<'service'> },
    rule: NewAlertRule,
    now: Temporal.Instant,
  ): Promise<AlertRuleRow> {
    const { em } = this.#session;
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

  /** An open incident of the rule stays, for people to resolve. */
  async delete(rule: AlertRuleRow): Promise<void> {
    await this.#session.em.remove(rule).flush();
  }

  /** Leaves the rules of these policies without one; the caller holds the locks on the policies. The ids, sorted. */
  async detach(orgId: Id<'org'>, policyIds: readonly Id<'policy'>[], now: Temporal.Instant): Promise<Id<'rule'>[]> {
    const rules = await this.#session.sql.rows<{ id: Id<'rule'> }>(
      `update alert_rules set escalation_policy_id = null, updated_at = $3
       where org_id = $1 and escalation_policy_id = any($2) returning id`,
      [orgId, [...policyIds], now.toString()],
    );
    return rules.map(({ id }) => id).sort();
  }
}
