import { sql } from 'kysely';

import type { Id } from '#kernel/ids.ts';
import { FAR_FUTURE, type Temporal } from '#kernel/time.ts';
import { PostgresStore, rowsChanged } from '#storage/postgres/store.ts';
import { UNCERTAIN } from '#modules/notifications/store/delivery_store.ts';

/** Backups that were restored, and how their timers and messages are brought to the present. */
export class RestorationStore extends PostgresStore {
  async insert(backupId: string, snapshotAt: Temporal.Instant, now: Temporal.Instant): Promise<void> {
    await this.insertInto('restorations')
      .values({ backup_id: backupId, snapshot_at: snapshotAt, restored_at: now, resumed_at: null })
      .execute();
  }

  /**
   * Returns the time of the snapshot, if no pager has worked on them since a restore, and locks it, so that one
   * pager resumes.
   */
  async lockWaiting(): Promise<Temporal.Instant | null> {
    const waiting = await this.selectFrom('restorations')
      .select('snapshot_at')
      .where('resumed_at', 'is', null)
      .orderBy('restored_at', 'desc')
      .limit(1)
      .forUpdate()
      .executeTakeFirst();
    return waiting?.snapshot_at ?? null;
  }

  async markResumed(now: Temporal.Instant): Promise<void> {
    await this.updateTable('restorations').set({ resumed_at: now }).where('resumed_at', 'is', null).execute();
  }

  /** Sets every timer that is pending later by so much; returns the incidents that wait for one. */
  async postponeSteps(minutes: number): Promise<Id<'incident'>[]> {
    const changed = await this.updateTable('incident_steps as t')
      .from('incidents as i')
      .set(({ ref }) => ({
        due_at: sql<Temporal.Instant>`least(${ref('t.due_at')} + ${minutes} * interval '1 minute', ${FAR_FUTURE}::timestamptz)`,
      }))
      .whereRef('i.id', '=', 't.incident_id')
      .where('i.status', '=', 'triggered')
      .where('t.state', '=', 'pending')
      .returning('t.incident_id')
      .execute();
    return [...new Set(changed.map(({ incident_id }) => incident_id))];
  }

  /** Pages that wait may have left after the backup: the provider is asked before one is sent. Returns how many. */
  async markWaitingPagesUncertain(): Promise<number> {
    const doubted = await this.updateTable('notifications')
      .set({ reason: UNCERTAIN })
      .where('status', '=', 'queued')
      .where('kind', '=', 'page')
      .where('digest_id', 'is', null)
      .execute();
    return rowsChanged(doubted);
  }

  /** Gives up messages that only say what was true then; those that page or warn somebody stay. */
  async cancelNews(reason: string, now: Temporal.Instant): Promise<number> {
    const cancelled = await this.updateTable('notifications')
      .set({ status: 'cancelled', reason, due_at: null, lease_until: null, updated_at: now })
      .where('status', 'in', ['queued', 'sending'])
      .where('kind', 'in', ['update', 'test', 'code'])
      .execute();
    return rowsChanged(cancelled);
  }
}
