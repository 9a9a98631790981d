import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { PostgresStore } from '#storage/postgres/store.ts';

/** Severity and commander of an incident, which people change during the response. The caller holds the lock on its row. */
export class IncidentResponseStore extends PostgresStore {
  async setSeverity(incidentId: Id<'incident'>, severity: string, now: Temporal.Instant): Promise<void> {
    await this.updateTable('incidents').set({ severity, updated_at: now }).where('id', '=', incidentId).execute();
  }

  async setCommander(incidentId: Id<'incident'>, userId: Id<'user'> | null, now: Temporal.Instant): Promise<void> {
    await this.updateTable('incidents')
      .set({ commander_id: userId, updated_at: now })
      .where('id', '=', incidentId)
      .execute();
  }
}
