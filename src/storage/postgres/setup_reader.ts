import type { Id } from '#kernel/ids.ts';
import type { Session } from '#storage/postgres/database.ts';

/** Which parts of paging somebody are there. */
export interface SetupParts {
  readonly hasService: boolean;
  readonly hasExceptions: boolean;
  /** A team with a member and an escalation policy. */
  readonly hasTeamWithPolicy: boolean;
  /** An enabled alert rule that has an escalation policy. */
  readonly hasPagingRule: boolean;
  /** Some message has left for somebody, a test included. */
  readonly hasSentMessage: boolean;
}

/** How far an organization has come from nothing to its first page. */
export class SetupReader {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async find(orgId: Id<'org'>): Promise<SetupParts> {
    const parts = await this.#session.sql.row<SetupParts>(
      `select
         exists (select 1 from services where org_id = $1 and deleted_at is null) as "hasService",
         exists (select 1 from exception_groups g
           join services s on s.id = g.service_id and s.deleted_at is null where s.org_id = $1) as "hasExceptions",
         exists (select 1 from teams t where t.org_id = $1
           and exists (select 1 from team_members m where m.team_id = t.id)
           and exists (select 1 from escalation_policies p where p.team_id = t.id)) as "hasTeamWithPolicy",
         exists (select 1 from alert_rules r join services s on s.id = r.service_id and s.deleted_at is null
           where r.org_id = $1 and r.enabled and r.escalation_policy_id is not null) as "hasPagingRule",
         exists (select 1 from notifications
           where org_id = $1 and status in ('sent', 'delivered')) as "hasSentMessage"`,
      [orgId],
    );
    if (parts === null) throw new Error('a select without a table answered no row');
    return parts;
  }
}
