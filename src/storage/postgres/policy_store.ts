import { type InferEntity, LockMode } from '@mikro-orm/postgresql';

import { notFound } from '#kernel/errors.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';
import { PolicyEntity } from '#storage/postgres/entities/oncall.ts';
import { saveChanged } from '#storage/postgres/save_changed.ts';

export type PolicyRow = InferEntity<typeof PolicyEntity>;

export type NewPolicy = Pick<PolicyRow, 'name' | 'steps'>;

const POLICY_COLUMNS = `id, org_id as "orgId", team_id as "teamId", name, steps,
  created_at as "createdAt", updated_at as "updatedAt"`;

/** Escalation policies of teams. An open incident has its own copy of the steps. */
export class PolicyStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** The policies of all the teams, oldest first. */
  async listOfTeams(orgId: Id<'org'>, teamIds: readonly Id<'team'>[]): Promise<PolicyRow[]> {
    return await this.#session.sql.rows(
      `select ${POLICY_COLUMNS} from escalation_policies where org_id = $1 and team_id = any($2) order by id`,
      [orgId, [...teamIds]],
    );
  }

  /** The policies of a team that is being deleted: no rule is attached to one of them until the transaction ends. */
  async lockOfTeam(orgId: Id<'org'>, teamId: Id<'team'>): Promise<PolicyRow[]> {
    return await this.#session.sql.rows(
      `select ${POLICY_COLUMNS} from escalation_policies where org_id = $1 and team_id = $2 order by id for update`,
      [orgId, teamId],
    );
  }

  /** Locked until the transaction ends. Throws `not_found` with the path of the field that named it. */
  async lock(orgId: Id<'org'>, policyId: string, path = 'policyId'): Promise<PolicyRow> {
    const policy = await this.#session.em.findOne(
      PolicyEntity,
      { orgId, id: policyId as Id<'policy'> },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (policy === null) throw notFound(path, 'escalation policy');
    return policy;
  }

  async save(policy: PolicyRow, now: Temporal.Instant): Promise<void> {
    await saveChanged(this.#session.em, policy, now);
  }

  /** The caller holds the lock on the team. */
  async insert(
    team: { readonly orgId: Id<'org'>; readonly id: Id<'team'> },
    policy: NewPolicy,
    now: Temporal.Instant,
  ): Promise<PolicyRow> {
    const { em } = this.#session;
    const row = em.create(PolicyEntity, {
      id: newId('policy'),
      orgId: team.orgId,
      teamId: team.id,
      ...policy,
      createdAt: now,
      updatedAt: now,
    });
    await em.persist(row).flush();
    return row;
  }

  /** Detach its rules first. */
  async delete(policy: PolicyRow): Promise<void> {
    await this.#session.em.remove(policy).flush();
  }
}
