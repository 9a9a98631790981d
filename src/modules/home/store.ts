import type { Channel } from '#modules/contacts/decide/channel.ts';
import type { Id } from '#kernel/ids.ts';
import { PostgresStore } from '#storage/postgres/store.ts';

/** Parts of paging that are set up. */
export interface SetupParts {
  readonly hasService: boolean;
  readonly hasExceptions: boolean;
  readonly hasTeam: boolean;
  /** A team with a member and an escalation policy. */
  readonly hasTeamWithPolicy: boolean;
  /** An enabled alert rule, or a route of alerts of other tools, that has an escalation policy. */
  readonly hasPagingRule: boolean;
  /** Some message has left for somebody, a test included. */
  readonly hasSentMessage: boolean;
}

/** A service, and the escalation policy of a rule of its own that is enabled. */
export interface PagingPair {
  readonly serviceId: Id<'service'>;
  readonly policyId: Id<'policy'>;
}

/** Reads how far an organization has come from nothing to its first page. */
export class SetupReader extends PostgresStore {
  /** The oldest of them; null while no rule pages anybody. */
  async findPagingPair(orgId: Id<'org'>): Promise<PagingPair | null> {
    const pair = await this.selectFrom('alert_rules as r')
      .innerJoin('services as s', (join) => join.onRef('s.id', '=', 'r.service_id').on('s.deleted_at', 'is', null))
      .innerJoin('service_capabilities as c', (join) =>
        join.onRef('c.service_id', '=', 's.id').on('c.capability', '=', 'oncall').on('c.is_enabled', '=', true),
      )
      .select(({ ref }) => ['r.service_id as serviceId', ref('r.escalation_policy_id').$notNull().as('policyId')])
      .where('r.org_id', '=', orgId)
      .where('r.enabled', '=', true)
      .where('r.escalation_policy_id', 'is not', null)
      .orderBy('r.id')
      .limit(1)
      .executeTakeFirst();
    return pair ?? null;
  }

  /** Messages by the `simulated` channels have reached nobody, nor have those whose ids match `simulatedIds`. */
  async find(orgId: Id<'org'>, simulated: ReadonlySet<Channel>, simulatedIds: string): Promise<SetupParts> {
    const { db } = this;
    const services = db.selectFrom('services as s').where('s.org_id', '=', orgId).where('s.deleted_at', 'is', null);
    const exceptions = services.innerJoin('exception_groups as g', 'g.service_id', 's.id');
    const anyTeams = db.selectFrom('teams as t').where('t.org_id', '=', orgId);
    const teams = anyTeams
      .where(({ exists, selectFrom }) =>
        exists(selectFrom('team_members as m').select('m.id').whereRef('m.team_id', '=', 't.id')),
      )
      .where(({ exists, selectFrom }) =>
        exists(selectFrom('escalation_policies as p').select('p.id').whereRef('p.team_id', '=', 't.id')),
      );
    const rules = services
      .innerJoin('alert_rules as r', 'r.service_id', 's.id')
      .where('r.enabled', '=', true)
      .where('r.escalation_policy_id', 'is not', null);
    const routes = services
      .innerJoin('alert_routes as a', 'a.service_id', 's.id')
      .where('a.outcome', '=', 'page')
      .where('a.policy_id', 'is not', null);
    const messages = db
      .selectFrom('notifications')
      .where('org_id', '=', orgId)
      .where('status', 'in', ['sent', 'delivered'])
      .where('channel', '<>', ({ fn, val }) => fn<Channel>('all', [val([...simulated])]))
      .where((n) => n.or([n('provider_id', 'is', null), n('provider_id', 'not like', simulatedIds)]));
    return await db
      .selectNoFrom(({ exists, or }) => [
        exists(services.select('s.id')).$castTo<boolean>().as('hasService'),
        exists(exceptions.select('g.id')).$castTo<boolean>().as('hasExceptions'),
        exists(anyTeams.select('t.id')).$castTo<boolean>().as('hasTeam'),
        exists(teams.select('t.id')).$castTo<boolean>().as('hasTeamWithPolicy'),
        or([exists(rules.select('r.id')), exists(routes.select('a.id'))])
          .$castTo<boolean>()
          .as('hasPagingRule'),
        exists(messages.select('id')).$castTo<boolean>().as('hasSentMessage'),
      ])
      .executeTakeFirstOrThrow();
  }
}
