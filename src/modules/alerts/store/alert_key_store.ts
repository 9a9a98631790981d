import { sql } from 'kysely';

import type { Capability } from '#modules/capabilities/decide/capability.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, PostgresStore, type Row, toColumns } from '#storage/postgres/store.ts';
import { AlertKeyEntity } from '#storage/postgres/entities/alerts.ts';
import { ServiceEntity } from '#storage/postgres/entities/services.ts';

/** An alert key as stored: found by hash, shown again by decryption. */
export type StoredAlertKey = Pick<Row<typeof AlertKeyEntity>, 'keyHash' | 'secret'>;

export type AlertTarget = Pick<Row<typeof ServiceEntity>, 'orgId'> & {
  readonly serviceId: Id<'service'>;
  readonly capabilities: readonly Capability[];
};

/** Alert keys; a service has at most one that is current. */
export class AlertKeyStore extends PostgresStore {
  /** Makes this the key of the service if it has none; the caller holds the lock on the service. */
  async insert(
    service: { readonly orgId: Id<'org'>; readonly id: Id<'service'> },
    key: StoredAlertKey,
    now: Temporal.Instant,
  ): Promise<void> {
    const row = { id: newId('alertkey'), orgId: service.orgId, serviceId: service.id, ...key, createdAt: now };
    await this.insertInto('alert_keys').values(toColumns(AlertKeyEntity, row)).execute();
  }

  /** Whether there was one. */
  async revoke(serviceId: Id<'service'>, now: Temporal.Instant): Promise<boolean> {
    const revoked = await this.updateTable('alert_keys')
      .set({ revoked_at: now })
      .where('service_id', '=', serviceId)
      .where('revoked_at', 'is', null)
      .returning('id')
      .execute();
    return revoked.length > 0;
  }

  /** The encrypted current key; null when there is none. */
  async findSecret(serviceId: Id<'service'>): Promise<Buffer | null> {
    const key = await this.selectFrom('alert_keys')
      .select('secret')
      .where('service_id', '=', serviceId)
      .where('revoked_at', 'is', null)
      .executeTakeFirst();
    return key?.secret ?? null;
  }

  /** Finds the service of each key in one query; an unknown key is absent. */
  async findTargets(hashes: readonly Buffer[]): Promise<(AlertTarget & { readonly hash: Buffer })[]> {
    return await this.selectFrom('alert_keys as k')
      .innerJoin('services as s', (join) => join.onRef('s.id', '=', 'k.service_id').on('s.deleted_at', 'is', null))
      .select(columns(ServiceEntity, 's', ['orgId']))
      .select(['s.id as serviceId', 'k.key_hash as hash'])
      .select(({ selectFrom }) => {
        const enabled = selectFrom('service_capabilities as c')
          .select('c.capability')
          .whereRef('c.service_id', '=', 's.id')
          .where('c.is_enabled', '=', true);
        return sql<Capability[]>`array(${enabled})`.as('capabilities');
      })
      .where('k.key_hash', '=', anyOf(hashes))
      .where('k.revoked_at', 'is', null)
      .execute();
  }
}
