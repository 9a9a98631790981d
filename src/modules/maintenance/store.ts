import { labelsOf, type MaintenanceSubject } from '#modules/maintenance/decide/maintenance.ts';
import { notFound } from '#kernel/errors.ts';
import { asId, type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { columns, holdLock, PostgresStore, type Row, toColumns } from '#storage/postgres/store.ts';
import { AlertRuleEntity, MaintenanceEntity } from '#storage/postgres/entities/oncall.ts';

export type MaintenanceRow = Row<typeof MaintenanceEntity>;

export type NewMaintenance = Omit<MaintenanceRow, 'id' | 'createdAt' | 'updatedAt'>;

/** A rule as far as maintenance goes. */
export interface MaintainedRule extends MaintenanceSubject {
  readonly ruleId: Id<'rule'>;
}

/** An organization has no more, those that are over among them. */
export const MAINTENANCE_MAX = 200;

/** Times in which incidents page nobody. */
export class MaintenanceStore extends PostgresStore {
  /**
   * Locks the organization's maintenances: until the transaction ends nobody else changes them, and no incident of it
   * begins to wait.
   */
  async hold(orgId: Id<'org'>): Promise<void> {
    await holdLock(this.session, `maintenance ${orgId}`);
  }

  /** Newest first. */
  async list(orgId: Id<'org'>): Promise<MaintenanceRow[]> {
    return await this.selectFrom('maintenance_windows as m')
      .select(columns(MaintenanceEntity, 'm'))
      .where('m.org_id', '=', orgId)
      .orderBy('m.starts_at', 'desc')
      .orderBy('m.id')
      .limit(MAINTENANCE_MAX)
      .execute();
  }

  async get(orgId: Id<'org'>, maintenanceId: string): Promise<MaintenanceRow> {
    return await this.selectFrom('maintenance_windows as m')
      .select(columns(MaintenanceEntity, 'm'))
      .where('m.org_id', '=', orgId)
      .where('m.id', '=', asId('maintenance', maintenanceId))
      .executeTakeFirstOrThrow(() => notFound('maintenanceId', 'maintenance window'));
  }

  async insert(maintenance: NewMaintenance, now: Temporal.Instant): Promise<MaintenanceRow> {
    const row = { id: newId('maintenance'), ...maintenance, createdAt: now, updatedAt: null };
    await this.insertInto('maintenance_windows').values(toColumns(MaintenanceEntity, row)).execute();
    return row;
  }

  async save({ id, ...maintenance }: MaintenanceRow): Promise<void> {
    await this.updateTable('maintenance_windows')
      .set(toColumns(MaintenanceEntity, maintenance))
      .where('id', '=', id)
      .execute();
  }

  /** The rules of the organization, with the labels that maintenance knows of them. */
  async listRules(orgId: Id<'org'>): Promise<MaintainedRule[]> {
    const rules = await this.selectFrom('alert_rules as r')
      .select(columns(AlertRuleEntity, 'r', ['id', 'serviceId', 'kind', 'config']))
      .where('r.org_id', '=', orgId)
      .orderBy('r.id')
      .execute();
    return rules.map(({ id, serviceId, ...rule }) => ({ ruleId: id, serviceId, labels: labelsOf(rule) }));
  }

  async delete(maintenanceId: Id<'maintenance'>): Promise<void> {
    await this.deleteFrom('maintenance_windows').where('id', '=', maintenanceId).execute();
  }

  /** Removes those that ended before this time. */
  async prune(orgId: Id<'org'>, endedBefore: Temporal.Instant): Promise<void> {
    await this.deleteFrom('maintenance_windows')
      .where('org_id', '=', orgId)
      .where('ends_at', '<', endedBefore)
      .execute();
  }
}
