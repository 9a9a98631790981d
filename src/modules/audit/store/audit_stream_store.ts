import { notFound } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { AUDIT_STREAMS_MAX, type StreamHealth } from '#modules/audit/decide/audit_stream.ts';
import { columns, PostgresStore, type Row, rowsChanged, toColumns } from '#storage/postgres/store.ts';
import { AuditStreamEntity } from '#storage/postgres/entities/audit.ts';

export type AuditStreamRow = Row<typeof AuditStreamEntity>;

/** A stream that is ready to be sent to. */
export type ReadyStream = Pick<AuditStreamRow, 'id' | 'orgId'>;

export class AuditStreamStore extends PostgresStore {
  /** The streams of an organization, oldest first. */
  async list(orgId: Id<'org'>): Promise<AuditStreamRow[]> {
    return await this.#streams().where('s.org_id', '=', orgId).orderBy('s.id').limit(AUDIT_STREAMS_MAX).execute();
  }

  async find(streamId: string): Promise<AuditStreamRow | null> {
    return (await this.#streams().where('s.id', '=', asId('auditstream', streamId)).executeTakeFirst()) ?? null;
  }

  /** Throws `not_found`. Locked until the transaction ends. */
  async lock(orgId: Id<'org'>, streamId: string): Promise<AuditStreamRow> {
    return await this.#streams()
      .where('s.org_id', '=', orgId)
      .where('s.id', '=', asId('auditstream', streamId))
      .forUpdate()
      .executeTakeFirstOrThrow(() => notFound('auditStreamId', 'stream of the audit log'));
  }

  async insert(
    stream: Pick<AuditStreamRow, 'orgId' | 'kind' | 'shown' | 'sealed' | 'sentNumber' | 'sentHash'>,
    now: Temporal.Instant,
  ): Promise<AuditStreamRow> {
    const health = { failures: 0, failingSince: null, lastFailure: null, lastSuccessAt: null, toldAt: null };
    const row = {
      id: newId('auditstream'),
      ...stream,
      isOn: true,
      ...health,
      heldUntil: null,
      claimedUntil: null,
      createdAt: now,
    };
    await this.insertInto('audit_streams').values(toColumns(AuditStreamEntity, row)).execute();
    return row;
  }

  async save(
    id: Id<'auditstream'>,
    changed: Partial<Pick<AuditStreamRow, 'isOn' | 'sentNumber' | 'sentHash' | 'lastSuccessAt'>> &
      Partial<StreamHealth>,
  ): Promise<void> {
    await this.updateTable('audit_streams').set(toColumns(AuditStreamEntity, changed)).where('id', '=', id).execute();
  }

  async delete(id: Id<'auditstream'>): Promise<void> {
    await this.deleteFrom('audit_streams').where('id', '=', id).execute();
  }

  /** Lists streams that are on and behind their log, or ahead of it after a restore. */
  async listReady(now: Temporal.Instant, limit: number): Promise<ReadyStream[]> {
    return await this.selectFrom('audit_streams as s')
      .innerJoin('audit_heads as h', 'h.org_id', 's.org_id')
      .select(['s.id', 's.org_id as orgId'])
      .where('s.is_on', '=', true)
      .whereRef('h.number', '<>', 's.sent_number')
      .where((eb) => eb.or([eb('s.held_until', 'is', null), eb('s.held_until', '<=', now)]))
      .where((eb) => eb.or([eb('s.claimed_until', 'is', null), eb('s.claimed_until', '<=', now)]))
      .orderBy('s.last_success_at', (order) => order.asc().nullsFirst())
      .limit(limit)
      .execute();
  }

  /** Claims the turn of a stream, so that one process at a time sends to it; null when another has it. */
  async claim(id: Id<'auditstream'>, now: Temporal.Instant, until: Temporal.Instant): Promise<AuditStreamRow | null> {
    const claimed = await this.updateTable('audit_streams')
      .set({ claimed_until: until })
      .where('id', '=', id)
      .where('is_on', '=', true)
      .where((eb) => eb.or([eb('claimed_until', 'is', null), eb('claimed_until', '<=', now)]))
      .execute();
    return rowsChanged(claimed) === 0 ? null : await this.find(id);
  }

  async release(id: Id<'auditstream'>, until: Temporal.Instant): Promise<void> {
    await this.updateTable('audit_streams')
      .set({ claimed_until: null })
      .where('id', '=', id)
      .where('claimed_until', '=', until)
      .execute();
  }

  #streams() {
    return this.selectFrom('audit_streams as s').select(columns(AuditStreamEntity, 's'));
  }
}
