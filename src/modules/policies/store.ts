import { type InferEntity, LockMode } from '@mikro-orm/postgresql';

import { sql } from 'kysely';

import { areSteps, readDetails, readSteps } from '#modules/policies/decide/stored_steps.ts';
import { notFound } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { LastTurn } from '#modules/policies/decide/audience.ts';
import { anyOf, columns, holdLock, json, PostgresStore } from '#storage/postgres/store.ts';
import { PolicyEntity } from '#storage/postgres/entities/oncall.ts';
import { saveChanged } from '#storage/postgres/save_changed.ts';

/** `isUnreadable` where somebody wrote steps that cannot be read: then it has those that stand for them. */
export type PolicyRow = InferEntity<typeof PolicyEntity> & { readonly isUnreadable?: true };

export type PolicyPlace = Pick<PolicyRow, 'name'> & { readonly id: string };

export type NewPolicy = Pick<PolicyRow, 'name' | 'steps' | 'details'>;

/** Policies of a name or a team; undefined for any. */
interface PolicyFilter {
  readonly text: string | undefined;
  readonly teamId: Id<'team'> | undefined;
}

/** Escalation policies of teams. An open incident has its own copy of the steps. */
export class PolicyStore extends PostgresStore {
  /** The policies of all the teams, oldest first. */
  async listOfTeams(orgId: Id<'org'>, teamIds: readonly Id<'team'>[]): Promise<PolicyRow[]> {
    return (await this.#policies(orgId).where('p.team_id', '=', anyOf(teamIds)).execute()).map(readPolicy);
  }

  /** Returns the organization's policies that exist among these ids. */
  async listAll(orgId: Id<'org'>, policyIds: readonly Id<'policy'>[]): Promise<PolicyRow[]> {
    return (await this.#policies(orgId).where('p.id', '=', anyOf(policyIds)).execute()).map(readPolicy);
  }

  /**
   * Returns the policies of which a step, or the hours, name one of these: schedules, teams or other policies; not those
   * of the team `exceptOf`.
   */
  async listNamingAny(
    orgId: Id<'org'>,
    ids: readonly (Id<'schedule'> | Id<'team'> | Id<'policy'>)[],
    exceptOf: Id<'team'> | null = null,
  ): Promise<PolicyRow[]> {
    const naming = await this.#policies(orgId)
      .where(({ ref }) => {
        const all = sql`jsonb_build_array(${ref('p.steps')}::jsonb, ${ref('p.details')}::jsonb)`;
        const named = sql`jsonb_path_query_array(${all}, '$.**.scheduleIds[*]') ||
          jsonb_path_query_array(${all}, '$.**.teamId') || jsonb_path_query_array(${all}, '$.**.policyId')`;
        return sql<boolean>`(${named}) ?| ${[...ids]}::text[]`;
      })
      .$if(exceptOf !== null, (query) => query.where('p.team_id', '<>', exceptOf ?? asId('team', '')))
      .execute();
    return naming.map(readPolicy);
  }

  /** Locks the references between policies of the organization until the transaction ends: no cycle comes about. */
  async holdReferences(orgId: Id<'org'>): Promise<void> {
    await holdLock(this.session, `policies ${orgId}`);
  }

  /** Returns the last turn of a policy's round robin, locked until the transaction ends; null for the first. */
  async lockTurn(policyId: Id<'policy'>): Promise<LastTurn | null> {
    const row = await this.selectFrom('escalation_policies')
      .select('last_turn')
      .where('id', '=', policyId)
      .forNoKeyUpdate()
      .executeTakeFirst();
    return row?.last_turn ?? null;
  }

  /** Stores the last turn of a policy's round robin, which the caller has locked. */
  async setTurn(policyId: Id<'policy'>, turn: LastTurn): Promise<void> {
    await this.updateTable('escalation_policies')
      .set({ last_turn: json(turn) })
      .where('id', '=', policyId)
      .execute();
  }

  async listNaming(orgId: Id<'org'>, userId: Id<'user'>): Promise<PolicyRow[]> {
    const naming = await this.#policies(orgId)
      .where(({ ref }) => sql<boolean>`${ref('p.steps')}::jsonb @> ${json([{ targetUserIds: [userId] }])}::jsonb`)
      .execute();
    return naming.map(readPolicy);
  }

  /**
   * Lists policies by name, after the given place; of one team, and with the text in their name, where these are given.
   */
  async search(
    orgId: Id<'org'>,
    filter: PolicyFilter,
    page: { readonly after: PolicyPlace | null; readonly limit: number },
  ): Promise<PolicyRow[]> {
    const { after } = page;
    const rows = await this.#matching(orgId, filter)
      .$if(after !== null, (query) =>
        query.where(
          ({ ref }) => sql<boolean>`(lower(${ref('p.name')}), ${ref('p.id')}) > (lower(${after?.name}), ${after?.id})`,
        ),
      )
      .orderBy(({ fn }) => fn('lower', ['p.name']))
      .orderBy('p.id')
      .limit(page.limit)
      .execute();
    return rows.map(readPolicy);
  }

  async count(orgId: Id<'org'>, filter: PolicyFilter): Promise<number> {
    const { total } = await this.#matching(orgId, filter)
      .clearSelect()
      .select(({ fn, cast }) => cast<number>(fn.countAll(), 'integer').as('total'))
      .executeTakeFirstOrThrow();
    return total;
  }

  #matching(orgId: Id<'org'>, { text, teamId }: PolicyFilter) {
    return this.#policies(orgId)
      .clearOrderBy()
      .$if(teamId !== undefined, (query) => query.where('p.team_id', '=', teamId ?? asId('team', '')))
      .$if(text !== undefined, (query) =>
        query.where(({ ref }) => sql<boolean>`strpos(lower(${ref('p.name')}), lower(${text})) > 0`),
      );
  }

  /** Throws `not_found` with the path of the field that named it. */
  async get(orgId: Id<'org'>, policyId: string, path = 'policyId'): Promise<PolicyRow> {
    const policy = await this.#policies(orgId)
      .where('p.id', '=', asId('policy', policyId))
      .executeTakeFirstOrThrow(() => notFound(path, 'escalation policy'));
    return readPolicy(policy);
  }

  /** The policies of a team that is being deleted: no rule is attached to one of them until the transaction ends. */
  async lockOfTeam(orgId: Id<'org'>, teamId: Id<'team'>): Promise<PolicyRow[]> {
    return (await this.#policies(orgId).where('p.team_id', '=', teamId).forUpdate().execute()).map(readPolicy);
  }

  /**
   * Returns the stored policy, locked until the transaction ends. Throws `not_found` with the path of the field that
   * named it.
   */
  async lock(orgId: Id<'org'>, policyId: string, path = 'policyId'): Promise<PolicyRow> {
    const policy = await this.em.findOne(
      PolicyEntity,
      { orgId, id: asId('policy', policyId) },
      { lockMode: LockMode.PESSIMISTIC_WRITE },
    );
    if (policy === null) throw notFound(path, 'escalation policy');
    return policy;
  }

  async save(policy: PolicyRow, now: Temporal.Instant): Promise<void> {
    await saveChanged(this.em, policy, now);
  }

  /** The caller holds the lock on the team. */
  async insert(
    team: { readonly orgId: Id<'org'>; readonly id: Id<'team'> },
    policy: NewPolicy,
    now: Temporal.Instant,
  ): Promise<PolicyRow> {
    const { em } = this.session;
    const row = em.create(PolicyEntity, {
      id: newId('policy'),
      orgId: team.orgId,
      teamId: team.id,
      ...policy,
      lastTurn: null,
      createdAt: now,
      updatedAt: now,
    });
    await em.persist(row).flush();
    return row;
  }

  /** Detach its rules first. */
  async delete(policy: PolicyRow): Promise<void> {
    await this.em.remove(policy).flush();
  }

  #policies(orgId: Id<'org'>) {
    return this.selectFrom('escalation_policies as p')
      .select(columns(PolicyEntity, 'p'))
      .where('p.org_id', '=', orgId)
      .orderBy('p.id');
  }
}

/** The row with steps that can be read. */
export function readPolicy(policy: InferEntity<typeof PolicyEntity>): PolicyRow {
  const details = readDetails(policy.details);
  const isReadable = areSteps(policy.steps);
  if (isReadable && details === policy.details) return policy;
  return { ...policy, details, steps: readSteps(policy.steps), ...(!isReadable && { isUnreadable: true as const }) };
}
