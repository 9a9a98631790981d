import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { PostgresStore, type Row, rowsOf } from '#storage/postgres/store.ts';
import type { ReleaseSessionsEntity, SentItemEntity } from '#storage/postgres/entities/sent.ts';
import { addHourlyCounts, listHourlyCounts } from '#modules/services/store/hourly_counts.ts';

export type SentItems = Row<typeof SentItemEntity>;
export type ReleaseSessions = Row<typeof ReleaseSessionsEntity>;

/** A release's sessions over a time. */
export type ReleaseHealth = Omit<ReleaseSessions, 'serviceId' | 'environment' | 'hour'>;

/** Stores what clients send besides events, as counts by the hour. */
export class SentItemStore extends PostgresStore {
  async add(items: readonly SentItems[]): Promise<void> {
    await addHourlyCounts(this.session, 'sent_items', items);
  }

  /** Adds to the counts. Those of a service that is gone are left out. */
  async addSessions(sessions: readonly ReleaseSessions[]): Promise<void> {
    if (sessions.length === 0) return;
    const added = rowsOf('added', {
      service_id: ['text', sessions.map(({ serviceId }) => serviceId)],
      release: ['text', sessions.map(({ release }) => release)],
      environment: ['text', sessions.map(({ environment }) => environment)],
      hour: ['timestamptz', sessions.map(({ hour }) => hour)],
      sessions: ['bigint', sessions.map((row) => row.sessions)],
      errored: ['bigint', sessions.map(({ errored }) => errored)],
      crashed: ['bigint', sessions.map(({ crashed }) => crashed)],
      abnormal: ['bigint', sessions.map(({ abnormal }) => abnormal)],
    });
    await this.insertInto('release_sessions')
      .columns(['service_id', 'release', 'environment', 'hour', 'sessions', 'errored', 'crashed', 'abnormal'])
      .expression(({ selectFrom }) =>
        selectFrom(added)
          .innerJoin('services as s', (join) =>
            join.onRef('s.id', '=', 'added.service_id').on('s.deleted_at', 'is', null),
          )
          .selectAll('added')
          // All processes lock rows in the same order.
          .orderBy('added.service_id')
          .orderBy('added.release')
          .orderBy('added.environment')
          .orderBy('added.hour'),
      )
      .onConflict((conflict) =>
        conflict
          .columns(['service_id', 'release', 'environment', 'hour'])
          .doUpdateSet((eb) => ({
            sessions: eb('release_sessions.sessions', '+', eb.ref('excluded.sessions')),
            errored: eb('release_sessions.errored', '+', eb.ref('excluded.errored')),
            crashed: eb('release_sessions.crashed', '+', eb.ref('excluded.crashed')),
            abnormal: eb('release_sessions.abnormal', '+', eb.ref('excluded.abnormal')),
          })),
      )
      .execute();
  }

  async listSince(
    serviceId: Id<'service'>,
    since: Temporal.Instant,
  ): Promise<Pick<SentItems, 'kind' | 'reason' | 'count' | 'lastAt'>[]> {
    return await listHourlyCounts(this.session, 'sent_items', serviceId, since);
  }

  /** Lists how the sessions of each release ended, the one with most sessions first, and the number of releases. */
  async listReleases(
    serviceId: Id<'service'>,
    since: Temporal.Instant,
    limit: number,
  ): Promise<(ReleaseHealth & { readonly total: number })[]> {
    return await this.selectFrom('release_sessions')
      .select(({ fn, cast }) => [
        'release',
        cast<number>(fn.sum('sessions'), 'bigint').as('sessions'),
        cast<number>(fn.sum('errored'), 'bigint').as('errored'),
        cast<number>(fn.sum('crashed'), 'bigint').as('crashed'),
        cast<number>(fn.sum('abnormal'), 'bigint').as('abnormal'),
        fn.countAll<number>().over().as('total'),
      ])
      .where('service_id', '=', serviceId)
      .where('hour', '>=', since)
      .groupBy('release')
      .orderBy('sessions', 'desc')
      .orderBy('release')
      .limit(limit)
      .execute();
  }

  /** Removes the hours that began before: of counts, and of sessions. */
  async removeBefore(itemsBefore: Temporal.Instant, sessionsBefore: Temporal.Instant): Promise<void> {
    await this.deleteFrom('sent_items').where('hour', '<', itemsBefore).execute();
    await this.deleteFrom('release_sessions').where('hour', '<', sessionsBefore).execute();
  }
}
