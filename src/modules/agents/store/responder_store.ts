import { sql } from 'kysely';

import { AGENT_SETTINGS_DEFAULT, type AgentSettings } from '#modules/agents/decide/agent_settings.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import {
  columns,
  holdLock,
  PostgresStore,
  prepared,
  type Row,
  shareLock,
  toColumns,
  type Values,
} from '#storage/postgres/store.ts';
import { AgentSettingsEntity, IncidentLeaseEntity, ResponderEntity } from '#storage/postgres/entities/responders.ts';

/** A connection that may respond, by the one of its ids that is set. */
export type ResponderRow = Pick<
  Row<typeof ResponderEntity>,
  'agentId' | 'orgId' | 'connectionId' | 'apiKeyId' | 'enabledBy' | 'enabledAt'
>;

/** State of one agent: what its organization decided, and whether it may respond. */
export interface AgentState extends AgentSettings {
  readonly isResponder: boolean;
}

export interface AgentFilter {
  /** Person for whom the listed agents act; null for all agents of the organization. */
  readonly ofUser: Id<'user'> | null;
  readonly text?: string | undefined;
}

/** A connected app or an API key, as the list of agents shows it. */
export interface AgentRow {
  readonly agentId: string;
  readonly kind: 'app' | 'api_key';
  readonly name: string;
  /** null: a key of the organization. */
  readonly userName: string | null;
  readonly lastUsedAt: Temporal.Instant | null;
  readonly isResponder: boolean;
}

/** The last one of a page: the next begins behind it. */
export type AgentPlace = Pick<AgentRow, 'agentId' | 'name' | 'isResponder'>;

const FIND_SETTINGS = prepared((db, { orgId }: Values<{ orgId: Id<'org'> }>) =>
  db
    .selectFrom('agent_settings as s')
    .select(columns(AgentSettingsEntity, 's', ['areStopped', 'writesAnHour', 'holdMinutes']))
    .where('s.org_id', '=', orgId),
);

/** Stores which connections may respond, and what an organization allows its agents. */
export class ResponderStore extends PostgresStore {
  async getSettings(orgId: Id<'org'>): Promise<AgentSettings> {
    return (await FIND_SETTINGS.row(this.session, { orgId })) ?? AGENT_SETTINGS_DEFAULT;
  }

  /** The settings for a change by an agent: nobody changes them before the transaction ends. */
  async shareSettings(orgId: Id<'org'>): Promise<AgentSettings> {
    await shareLock(this.session, `agent_settings ${orgId}`);
    return await this.getSettings(orgId);
  }

  /** The settings for a change of them, once every change of an agent that is under way has ended. */
  async lockSettings(orgId: Id<'org'>): Promise<AgentSettings> {
    await holdLock(this.session, `agent_settings ${orgId}`);
    return await this.getSettings(orgId);
  }

  /** Lock them first. */
  async setSettings(orgId: Id<'org'>, settings: AgentSettings): Promise<void> {
    const row = toColumns(AgentSettingsEntity, { ...settings });
    await this.insertInto('agent_settings')
      .values({ org_id: orgId, ...row })
      .onConflict((conflict) => conflict.column('org_id').doUpdateSet(row))
      .execute();
  }

  async getAgentState(orgId: Id<'org'>, agentId: string): Promise<AgentState> {
    const settings = await this.getSettings(orgId);
    return { ...settings, isResponder: await this.isResponder(orgId, agentId) };
  }

  async isResponder(orgId: Id<'org'>, agentId: string): Promise<boolean> {
    const row = await this.selectFrom('responders')
      .select('agent_id')
      .where('agent_id', '=', agentId)
      .where('org_id', '=', orgId)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Connected apps and API keys that are not revoked: those that may respond first, then by name. */
  async listAgents(
    orgId: Id<'org'>,
    filter: AgentFilter,
    page: { readonly after: AgentPlace | null; readonly limit: number },
  ): Promise<AgentRow[]> {
    const { after } = page;
    let query = this.#agents(orgId, filter).selectAll();
    if (after !== null) {
      query = query.where(
        ({ ref }) =>
          sql<boolean>`(not ${ref('isResponder')}, lower(${ref('name')}), ${ref('agentId')}) > (${!after.isResponder}, lower(${after.name}), ${after.agentId})`,
      );
    }
    return await query
      .orderBy('isResponder', 'desc')
      .orderBy(({ fn }) => fn('lower', ['name']))
      .orderBy('agentId')
      .limit(page.limit)
      .execute();
  }

  async countAgents(orgId: Id<'org'>, filter: AgentFilter): Promise<number> {
    const { count } = await this.#agents(orgId, filter)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  /** Enabled already: nothing changes. */
  async enable(responder: ResponderRow): Promise<void> {
    await this.insertInto('responders')
      .values(toColumns(ResponderEntity, { ...responder }))
      .onConflict((conflict) => conflict.column('agent_id').doNothing())
      .execute();
  }

  async disable(orgId: Id<'org'>, agentId: string): Promise<void> {
    await this.deleteFrom('responders').where('agent_id', '=', agentId).where('org_id', '=', orgId).execute();
  }

  /**
   * Counts a change of an agent, unless it has made `cap` within the last hour: false then. Changes of one agent wait for
   * each other, so that no two pass where one was left.
   */
  async countWrite(agentId: string, cap: number, now: Temporal.Instant): Promise<boolean> {
    const { db } = this;
    await holdLock(this.session, `agent_writes ${agentId}`);
    await db
      .deleteFrom('agent_writes')
      .where('agent_id', '=', agentId)
      .where('at', '<=', now.subtract({ hours: 1 }))
      .execute();
    const { count } = await db
      .selectFrom('agent_writes')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('agent_id', '=', agentId)
      .executeTakeFirstOrThrow();
    if (count >= cap) return false;
    await db.insertInto('agent_writes').values({ agent_id: agentId, at: now }).execute();
    return true;
  }

  #agents(orgId: Id<'org'>, { ofUser, text }: AgentFilter) {
    const { db } = this;
    const apps = db
      .selectFrom('connections as c')
      .leftJoin('users as u', 'u.id', 'c.user_id')
      .select(({ ref }) => [sql<string>`${ref('c.id')}`.as('agentId'), sql<AgentRow['kind']>`'app'`.as('kind')])
      .select(['c.client_name as name', 'u.name as userName', 'c.last_used_at as lastUsedAt'])
      .where('c.org_id', '=', orgId)
      .$if(ofUser !== null, (query) => query.where('c.user_id', '=', ofUser));
    const keys = db
      .selectFrom('api_keys as k')
      .leftJoin('users as u', 'u.id', 'k.user_id')
      .select(({ ref }) => [sql<string>`${ref('k.id')}`.as('agentId'), sql<AgentRow['kind']>`'api_key'`.as('kind')])
      .select(['k.name', 'u.name as userName', 'k.last_used_at as lastUsedAt'])
      .where('k.org_id', '=', orgId)
      .where('k.revoked_at', 'is', null)
      .where('k.is_provisioning', '=', false)
      .$if(ofUser !== null, (query) => query.where('k.user_id', '=', ofUser));
    const agents = db
      .selectFrom(apps.unionAll(keys).as('a'))
      .leftJoin('responders as r', 'r.agent_id', 'a.agentId')
      .select(['a.agentId', 'a.kind', 'a.name', 'a.userName', 'a.lastUsedAt'])
      .select(({ ref }) => sql<boolean>`${ref('r.agent_id')} is not null`.as('isResponder'));
    const listing = db.selectFrom(agents.as('agents'));
    if (text === undefined) return listing;
    return listing.where(
      ({ ref }) => sql<boolean>`strpos(lower(concat_ws(' ', ${ref('name')}, ${ref('userName')})), lower(${text})) > 0`,
    );
  }
}

export type IncidentLeaseRow = Row<typeof IncidentLeaseEntity>;

/** Leases of agents on incidents. Lock the incident before you change its lease. */
export class IncidentLeaseStore extends PostgresStore {
  async find(incidentId: Id<'incident'>): Promise<IncidentLeaseRow | null> {
    return (await this.#leases().where('l.incident_id', '=', incidentId).executeTakeFirst()) ?? null;
  }

  /** Takes the place of the lease before it. */
  async save(lease: IncidentLeaseRow): Promise<void> {
    const row = toColumns(IncidentLeaseEntity, { ...lease });
    await this.insertInto('incident_leases')
      .values(row)
      .onConflict((conflict) => conflict.column('incident_id').doUpdateSet(row))
      .execute();
  }

  /** Leases of the organization that are held, of one agent or of all. */
  async listHeld(orgId: Id<'org'>, agentId: string | null, now: Temporal.Instant): Promise<IncidentLeaseRow[]> {
    return await this.#leases()
      .where('l.org_id', '=', orgId)
      .where('l.released_at', 'is', null)
      .where('l.expires_at', '>', now)
      .$if(agentId !== null, (query) => query.where('l.agent_id', '=', agentId ?? ''))
      .orderBy('l.incident_id')
      .limit(5_000)
      .execute();
  }

  #leases() {
    return this.selectFrom('incident_leases as l').select(columns(IncidentLeaseEntity, 'l'));
  }
}
