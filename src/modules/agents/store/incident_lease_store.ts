import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { columns, type Row, toColumns } from '#storage/postgres/columns.ts';
import type { Session } from '#storage/postgres/database.ts';
import { IncidentLeaseEntity } from '#storage/postgres/entities/responders.ts';

export type IncidentLeaseRow = Row<typeof IncidentLeaseEntity>;

/** Leases of agents on incidents. Lock the incident before you change its lease. */
export class IncidentLeaseStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async find(incidentId: Id<'incident'>): Promise<IncidentLeaseRow | null> {
    return (await this.#leases().where('l.incident_id', '=', incidentId).executeTakeFirst()) ?? null;
  }

  /** Takes the place of the lease before it. */
  async save(lease: IncidentLeaseRow): Promise<void> {
    const row = toColumns(IncidentLeaseEntity, { ...lease });
    await this.#session.db
      .insertInto('incident_leases')
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
    return this.#session.db.selectFrom('incident_leases as l').select(columns(IncidentLeaseEntity, 'l'));
  }
}
