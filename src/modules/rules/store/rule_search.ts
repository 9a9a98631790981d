import { sql } from 'kysely';

import { RULE_KINDS, RULE_KIND_NAMES, type RuleKind } from '#modules/rules/decide/rule_kinds.ts';
import { RULE_STATES, type RuleState } from '#modules/rules/decide/rule_kind.ts';
import { asId, type Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, field, PostgresStore, rowsOf } from '#storage/postgres/store.ts';
import { AlertRuleEntity, PolicyEntity } from '#storage/postgres/entities/oncall.ts';
import type { AlertRuleRow } from '#modules/rules/store/alert_rule_store.ts';
import { type PolicyRow, readPolicy } from '#modules/policies/store.ts';

/** Filter of an organization's rules; absent fields do not narrow it. */
export interface RuleFilter {
  readonly serviceId?: string | undefined;
  readonly ownedByTeams?: readonly Id<'team'>[] | undefined;
  readonly kind?: RuleKind | undefined;
  readonly state?: RuleState | undefined;
  /** Part of the name, of the service's name or of the condition, in any case. */
  readonly text?: string | undefined;
  readonly ruleIds?: readonly string[] | undefined;
  /** Incidents of which the listed rules opened one. */
  readonly incidentIds?: readonly string[] | undefined;
}

/** A place in the order of the list: by state, then by name. */
export interface RulePlace {
  readonly state: RuleState;
  readonly name: string;
  readonly id: string;
}

export interface RuleActivity {
  readonly lastFiredAt: Temporal.Instant | null;
  readonly firedCount: number;
  /** The newest of its open incidents. */
  readonly openIncidentId: Id<'incident'> | null;
  readonly openCount: number;
}

/** A rule that looks at points, with how long its service keeps them. */
export type WatchingRule = Pick<AlertRuleRow, 'id' | 'serviceId' | 'kind' | 'config'> & {
  readonly retentionDays: number;
};

export type PolicyOfTeam = PolicyRow & { readonly teamName: string };

/** The properties of configs that name a metric. */
const SELECTORS = RULE_KIND_NAMES.flatMap((kind) => {
  const { selector }: { readonly selector?: string } = RULE_KINDS[kind];
  return selector ?? [];
});

export class RuleSearch extends PostgresStore {
  /** Lists rules after `after`, at most `limit`; `waiting` are the rules whose data has not arrived. */
  async listPlaces(
    orgId: Id<'org'>,
    filter: RuleFilter,
    waiting: readonly Id<'rule'>[],
    { after, limit }: { readonly after: RulePlace | null; readonly limit: number },
  ): Promise<RulePlace[]> {
    let query = this.#matching(orgId, filter, waiting);
    if (filter.state !== undefined) query = query.where('f.state', '=', filter.state);
    if (after !== null) {
      const rank = RULE_STATES.indexOf(after.state) + 1;
      query = query.where(
        ({ ref }) =>
          sql<boolean>`(${rankOf(ref('f.state'))}, lower(${ref('f.name')}), ${ref('f.id')}) > (${rank}::integer, lower(${after.name}), ${after.id})`,
      );
    }
    return await query
      .select(['f.state', 'f.name', 'f.id'])
      .orderBy(({ ref }) => rankOf(ref('f.state')))
      .orderBy(({ fn }) => fn('lower', ['f.name']))
      .orderBy('f.id')
      .limit(limit)
      .execute();
  }

  /** Counts rules of every state, including those that the filter does not ask for. */
  async countByState(
    orgId: Id<'org'>,
    filter: RuleFilter,
    waiting: readonly Id<'rule'>[],
  ): Promise<Readonly<Record<RuleState, number>>> {
    const rows = await this.#matching(orgId, filter, waiting)
      .select((eb) => ['f.state', eb.fn.countAll<number>().as('count')])
      .groupBy('f.state')
      .execute();
    const counts = new Map(rows.map(({ state, count }) => [state, count]));
    const countOf = (state: RuleState) => counts.get(state) ?? 0;
    return {
      breached: countOf('breached'),
      waiting_for_data: countOf('waiting_for_data'),
      ok: countOf('ok'),
      disabled: countOf('disabled'),
    };
  }

  async findAll(orgId: Id<'org'>, ruleIds: readonly string[]): Promise<ReadonlyMap<string, AlertRuleRow>> {
    const rows = await this.selectFrom('alert_rules as r')
      .select(columns(AlertRuleEntity, 'r'))
      .where('r.org_id', '=', orgId)
      .where('r.id', '=', anyOf(ruleIds.map((id) => asId('rule', id))))
      .execute();
    return new Map(rows.map((rule) => [rule.id, rule]));
  }

  /** Enabled rules of these kinds, of the whole organization. */
  async listWatching(orgId: Id<'org'>, kinds: readonly RuleKind[]): Promise<WatchingRule[]> {
    return await this.selectFrom('alert_rules as r')
      .innerJoin('services as s', (join) => join.onRef('s.id', '=', 'r.service_id').on('s.deleted_at', 'is', null))
      .select(columns(AlertRuleEntity, 'r', ['id', 'serviceId', 'kind', 'config']))
      .select('s.retention_metrics as retentionDays')
      .where('r.org_id', '=', orgId)
      .where('r.kind', '=', anyOf(kinds))
      .where('r.enabled', '=', true)
      .orderBy('r.id')
      .execute();
  }

  /** Lists the activity of these rules; `firedCount` is since then. An incident in a storm counts for its own rule. */
  async listActivity(
    ruleIds: readonly Id<'rule'>[],
    since: Temporal.Instant,
  ): Promise<ReadonlyMap<Id<'rule'>, RuleActivity>> {
    const incidents = this.selectFrom('incidents as i')
      .select((eb) => [
        eb.ref('i.rule_id').$notNull().as('ruleId'),
        'i.triggered_at as firedAt',
        'i.id as incidentId',
        eb('i.status', '<>', 'resolved').as('isOpen'),
      ])
      .where('i.rule_id', '=', anyOf(ruleIds))
      .where('i.storm_until', 'is', null);
    const members = this.selectFrom('incident_members as m')
      .select((eb) => [
        eb.ref('m.rule_id').$notNull().as('ruleId'),
        'm.joined_at as firedAt',
        'm.incident_id as incidentId',
        eb('m.ended_at', 'is', null).as('isOpen'),
      ])
      .where('m.rule_id', '=', anyOf(ruleIds));
    const rows = await this.selectFrom(incidents.unionAll(members).as('f'))
      .select((eb) => [
        'f.ruleId',
        eb.fn.max('f.firedAt').as('lastFiredAt'),
        eb.fn.countAll<number>().filterWhere('f.firedAt', '>=', since).as('firedCount'),
        eb.fn.max('f.incidentId').filterWhere('f.isOpen', '=', true).as('openIncidentId'),
        eb.fn.countAll<number>().filterWhere('f.isOpen', '=', true).as('openCount'),
      ])
      .groupBy('f.ruleId')
      .execute();
    return new Map(rows.map(({ ruleId, ...activity }) => [ruleId, activity]));
  }

  async listPolicies(orgId: Id<'org'>, policyIds: readonly Id<'policy'>[]): Promise<PolicyOfTeam[]> {
    const policies = await this.selectFrom('escalation_policies as p')
      .innerJoin('teams as t', 't.id', 'p.team_id')
      .select(columns(PolicyEntity, 'p'))
      .select('t.name as teamName')
      .where('p.org_id', '=', orgId)
      .where('p.id', '=', anyOf(policyIds))
      .execute();
    return policies.map((policy) => ({ ...policy, ...readPolicy(policy) }));
  }

  #matching(
    orgId: Id<'org'>,
    { serviceId, ownedByTeams, kind, text, ruleIds, incidentIds }: RuleFilter,
    waiting: readonly Id<'rule'>[],
  ) {
    const { db } = this;
    const kinds = rowsOf('k', {
      kind: ['text', RULE_KIND_NAMES],
      fed_by: ['text', RULE_KIND_NAMES.map((name) => RULE_KINDS[name].fedBy)],
    });
    let rules = db
      .selectFrom('alert_rules as r')
      .innerJoin('services as s', (join) => join.onRef('s.id', '=', 'r.service_id').on('s.deleted_at', 'is', null))
      .innerJoin(kinds, (join) => join.on(({ ref }) => sql<boolean>`${ref('k.kind')} = ${ref('r.kind')}`))
      .select(['r.id', 'r.name'])
      .select(({ ref, selectFrom, exists }) => {
        const fed = selectFrom('service_capabilities as c')
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .whereRef('c.service_id', '=', 'r.service_id')
          .where('c.is_enabled', '=', true)
          .where((eb) => sql<boolean>`${eb.ref('c.capability')} in ('oncall', ${eb.ref('k.fed_by')})`);
        const incident = selectFrom('incidents as i')
          .select('i.id')
          .whereRef('i.rule_id', '=', 'r.id')
          .where('i.status', '<>', 'resolved')
          .where('i.storm_until', 'is', null);
        const member = selectFrom('incident_members as m')
          .select('m.incident_id')
          .whereRef('m.rule_id', '=', 'r.id')
          .where('m.ended_at', 'is', null);
        return sql<RuleState>`case
          when not ${ref('r.enabled')} or ${fed} < 2 then 'disabled'
          when ${exists(incident)} or ${exists(member)} then 'breached'
          when ${ref('r.id')} = any(${waiting}) then 'waiting_for_data'
          else 'ok' end`.as('state');
      })
      .where('r.org_id', '=', orgId);
    if (ownedByTeams !== undefined) rules = rules.where('s.team_id', '=', anyOf(ownedByTeams));
    if (serviceId !== undefined) rules = rules.where('r.service_id', '=', asId('service', serviceId));
    if (kind !== undefined) rules = rules.where('r.kind', '=', kind);
    if (text !== undefined) {
      rules = rules.where(({ ref }) => {
        const metrics = SELECTORS.map((selector) => field(ref('r.config'), selector));
        const searched = sql`lower(concat_ws(' ', ${sql.join([ref('r.name'), ref('s.name'), ...metrics])}))`;
        return sql<boolean>`strpos(${searched}, lower(${text})) > 0`;
      });
    }
    if (ruleIds !== undefined) rules = rules.where('r.id', '=', anyOf(ruleIds.map((id) => asId('rule', id))));
    if (incidentIds !== undefined) {
      const ids = incidentIds.map((id) => asId('incident', id));
      rules = rules.where((eb) =>
        eb.or([
          eb.exists(
            eb
              .selectFrom('incidents as o')
              .select('o.id')
              .whereRef('o.rule_id', '=', 'r.id')
              .where('o.id', '=', anyOf(ids)),
          ),
          eb.exists(
            eb
              .selectFrom('incident_members as n')
              .select('n.incident_id')
              .whereRef('n.rule_id', '=', 'r.id')
              .where('n.incident_id', '=', anyOf(ids)),
          ),
        ]),
      );
    }
    return db.selectFrom(rules.as('f'));
  }
}

function rankOf(state: unknown) {
  return sql<number>`array_position(${[...RULE_STATES]}::text[], ${state})`;
}
