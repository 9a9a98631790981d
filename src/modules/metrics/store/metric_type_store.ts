import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, PostgresStore, type Row, rowsOf } from '#storage/postgres/store.ts';
import type { MetricTypeEntity } from '#storage/postgres/entities/services.ts';

type MetricTypeRow = Row<typeof MetricTypeEntity>;

/** Type and unit of a metric, as announced by senders. */
export type AnnouncedType = Pick<MetricTypeRow, 'serviceId' | 'name' | 'type' | 'unit'>;

/** A metric that has another type than before. */
type ChangedType = Pick<MetricTypeRow, 'name' | 'type' | 'changes'> & {
  readonly before: number;
  readonly changedAt: Temporal.Instant;
};

/** The types and units that senders have said the metrics of each service have, gathered by every API process. */
export class MetricTypeStore extends PostgresStore {
  /** Lists types of these services that were announced since then; all when `since` is null. */
  async list(serviceIds: readonly Id<'service'>[], since: Temporal.Instant | null): Promise<AnnouncedType[]> {
    let query = this.selectFrom('metric_types')
      .select(['service_id as serviceId', 'name', 'type', 'unit'])
      .where('service_id', '=', anyOf(serviceIds));
    if (since !== null) query = query.where('told_at', '>=', since);
    return await query.execute();
  }

  async listNamed(serviceId: Id<'service'>, names: readonly string[]): Promise<Map<string, AnnouncedType>> {
    const rows = await this.selectFrom('metric_types')
      .select(['service_id as serviceId', 'name', 'type', 'unit'])
      .where('service_id', '=', serviceId)
      .where('name', '=', anyOf(names))
      .execute();
    return new Map(rows.map((row) => [row.name, row]));
  }

  /** Notes what was told now, all or nothing. What is said of a service that is gone is left out. */
  async announce(types: readonly AnnouncedType[], now: Temporal.Instant): Promise<void> {
    const added = rowsOf('added', {
      service_id: ['text', types.map(({ serviceId }) => serviceId)],
      name: ['text', types.map(({ name }) => name)],
      type: ['integer', types.map(({ type }) => type)],
      unit: ['text', types.map(({ unit }) => unit)],
    });
    await this.insertInto('metric_types')
      .columns(['service_id', 'name', 'type', 'unit', 'told_at', 'changes'])
      .expression(({ selectFrom }) =>
        selectFrom(added)
          .innerJoin('services as s', (join) =>
            join.onRef('s.id', '=', 'added.service_id').on('s.deleted_at', 'is', null),
          )
          .select(['added.service_id', 'added.name', 'added.type', 'added.unit'])
          .select(({ val, cast }) => [
            cast<Temporal.Instant>(val(now), 'timestamptz').as('told_at'),
            cast<number>(val(0), 'integer').as('changes'),
          ])
          // All processes lock rows in the same order.
          .orderBy('added.service_id')
          .orderBy('added.name'),
      )
      .onConflict((conflict) =>
        conflict.columns(['service_id', 'name']).doUpdateSet((eb) => {
          const isChange = eb('metric_types.type', '!=', eb.ref('excluded.type'));
          return {
            type: eb.ref('excluded.type'),
            unit: eb.ref('excluded.unit'),
            told_at: eb.ref('excluded.told_at'),
            before: eb
              .case()
              .when(isChange)
              .then(eb.ref('metric_types.type'))
              .else(eb.ref('metric_types.before'))
              .end(),
            changed_at: eb
              .case()
              .when(isChange)
              .then(eb.ref('excluded.told_at'))
              .else(eb.ref('metric_types.changed_at'))
              .end(),
            changes: eb
              .case()
              .when(isChange)
              .then(eb('metric_types.changes', '+', 1))
              .else(eb.ref('metric_types.changes'))
              .end(),
          };
        }),
      )
      .execute();
  }

  /** Metrics of a service that got another type since then, the latest first, and how many there are. */
  async listChanged(
    serviceId: Id<'service'>,
    since: Temporal.Instant,
    limit: number,
  ): Promise<{ changed: ChangedType[]; total: number }> {
    const rows = await this.selectFrom('metric_types')
      .select(['name', 'type', 'before', 'changed_at as changedAt', 'changes'])
      .select(({ fn, cast }) => cast<number>(fn.countAll().over(), 'bigint').as('total'))
      .where('service_id', '=', serviceId)
      .where('changed_at', '>', since)
      .orderBy('changed_at', 'desc')
      .orderBy('name')
      .limit(limit)
      .execute();
    return {
      changed: rows.flatMap(({ before, changedAt, total: _, ...row }) =>
        before === null || changedAt === null ? [] : [{ ...row, before, changedAt }],
      ),
      total: rows[0]?.total ?? 0,
    };
  }

  /** Removes what nobody has said since. */
  async removeAnnouncedBefore(at: Temporal.Instant): Promise<void> {
    await this.deleteFrom('metric_types').where('told_at', '<', at).execute();
  }
}
