import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { LIMITS_REACHED } from '#modules/services/decide/ingest_refusal.ts';
import type { Session } from '#storage/postgres/database.ts';
import type { ReleaseSessionsEntity, SentItemEntity } from '#storage/postgres/entities/sent.ts';
import type { IngestRefusalEntity } from '#storage/postgres/entities/services.ts';
import { anyOf, PostgresStore, type Row, rowsOf } from '#storage/postgres/store.ts';

/** Items of a service that were refused for one reason within the hour that begins at `hour`. */
export type IngestRefusal = Row<typeof IngestRefusalEntity>;

type Refused = Pick<IngestRefusal, 'kind' | 'reason' | 'count' | 'lastAt'>;

/** The hour in which a refusal at this time is counted. */
export function refusalHour(now: Temporal.Instant): Temporal.Instant {
  return now.round({ smallestUnit: 'hour', roundingMode: 'floor' });
}

/** Stores how much ingestion refused of each service, and why. */
export class IngestRefusalStore extends PostgresStore {
  async add(refusals: readonly IngestRefusal[]): Promise<void> {
    await addHourlyCounts(this.session, 'ingest_refusals', refusals);
  }

  async listSince(serviceId: Id<'service'>, since: Temporal.Instant): Promise<Refused[]> {
    return await listHourlyCounts(this.session, 'ingest_refusals', serviceId, since);
  }

  /** Counts what was refused of each of the services; limits that were met without a loss are not counted. */
  async countOfServices(
    serviceIds: readonly Id<'service'>[],
    since: Temporal.Instant,
  ): Promise<Map<Id<'service'>, number>> {
    const rows = await this.selectFrom('ingest_refusals')
      .select(({ fn, cast }) => ['service_id as serviceId', cast<number>(fn.sum('count'), 'bigint').as('count')])
      .where('service_id', '=', anyOf(serviceIds))
      .where('last_at', '>', since)
      .where('reason', 'not in', [...LIMITS_REACHED])
      .groupBy('service_id')
      .execute();
    return new Map(rows.map(({ serviceId, count }) => [serviceId, count]));
  }

  /** Counts refusals of all services by reason, within the hour that begins at `hour`. */
  async countByReason(hour: Temporal.Instant): Promise<Map<string, number>> {
    const rows = await this.selectFrom('ingest_refusals')
      .select(({ fn, cast }) => ['reason', cast<number>(fn.sum('count'), 'bigint').as('count')])
      .where('hour', '=', hour)
      .groupBy('reason')
      .execute();
    return new Map(rows.map(({ reason, count }) => [reason, count]));
  }

  /** Removes the hours that began before. */
  async removeBefore(hour: Temporal.Instant): Promise<void> {
    await this.deleteFrom('ingest_refusals').where('hour', '<', hour).execute();
  }
}

export type SentItems = Row<typeof SentItemEntity>;
export type ReleaseSessions = Row<typeof ReleaseSessionsEntity>;

/** A release's sessions over a time. */
export type ReleaseHealth = Omit<ReleaseSessions, 'serviceId' | 'environment' | 'hour'>;

/** Limit on the releases, times environments, of which the sessions of a service are counted in an hour. */
const RELEASES_AN_HOUR_MAX = 1_000;

function hourKeyOf({ serviceId, hour }: Pick<ReleaseSessions, 'serviceId' | 'hour'>): string {
  return `${serviceId} ${hour.epochMilliseconds}`;
}

function keyOf(row: Pick<ReleaseSessions, 'serviceId' | 'release' | 'environment' | 'hour'>): string {
  return JSON.stringify([hourKeyOf(row), row.release, row.environment]);
}

/** Stores what clients send besides events, as counts by the hour. */
export class SentItemStore extends PostgresStore {
  async add(items: readonly SentItems[]): Promise<void> {
    await addHourlyCounts(this.session, 'sent_items', items);
  }

  /**
   * Adds to the counts; those of a service that is gone are left out. Returns the service of each that was left out because
   * the service has so many others in that hour: whoever knows its DSN may name ever other releases.
   */
  async addSessions(sessions: readonly ReleaseSessions[]): Promise<Id<'service'>[]> {
    const { kept, left } = await this.#withinLimit(sessions);
    await this.#addSessions(kept);
    return left.map(({ serviceId }) => serviceId);
  }

  async #withinLimit(
    sessions: readonly ReleaseSessions[],
  ): Promise<{ readonly kept: readonly ReleaseSessions[]; readonly left: readonly ReleaseSessions[] }> {
    if (sessions.length === 0) return { kept: [], left: [] };
    const counted = await this.#findCounted(sessions);
    const sizes = await this.#sizesOfHours(sessions);
    const [kept, left] = [[] as ReleaseSessions[], [] as ReleaseSessions[]];
    for (const row of sessions) {
      const hour = hourKeyOf(row);
      const size = sizes.get(hour) ?? 0;
      const isNew = !counted.has(keyOf(row));
      if (isNew && size >= RELEASES_AN_HOUR_MAX) {
        left.push(row);
        continue;
      }
      if (isNew) sizes.set(hour, size + 1);
      kept.push(row);
    }
    return { kept, left };
  }

  async #findCounted(sessions: readonly ReleaseSessions[]): Promise<ReadonlySet<string>> {
    const wanted = rowsOf('w', {
      service_id: ['text', sessions.map(({ serviceId }) => serviceId)],
      release: ['text', sessions.map(({ release }) => release)],
      environment: ['text', sessions.map(({ environment }) => environment)],
      hour: ['timestamptz', sessions.map(({ hour }) => hour)],
    });
    const rows = await this.selectFrom('release_sessions as r')
      .innerJoin(wanted, (join) =>
        join
          .onRef('w.service_id', '=', 'r.service_id')
          .onRef('w.release', '=', 'r.release')
          .onRef('w.environment', '=', 'r.environment')
          .onRef('w.hour', '=', 'r.hour'),
      )
      .select(['r.service_id as serviceId', 'r.release', 'r.environment', 'r.hour'])
      .execute();
    return new Set(rows.map(keyOf));
  }

  /** Returns the number of releases and environments that are counted in each hour of a service. */
  async #sizesOfHours(sessions: readonly ReleaseSessions[]): Promise<Map<string, number>> {
    const hours = [...new Map(sessions.map((row) => [hourKeyOf(row), row])).values()];
    const wanted = rowsOf('w', {
      service_id: ['text', hours.map(({ serviceId }) => serviceId)],
      hour: ['timestamptz', hours.map(({ hour }) => hour)],
    });
    const rows = await this.selectFrom('release_sessions as r')
      .innerJoin(wanted, (join) => join.onRef('w.service_id', '=', 'r.service_id').onRef('w.hour', '=', 'r.hour'))
      .select(({ fn, cast }) => [
        'r.service_id as serviceId',
        'r.hour',
        cast<number>(fn.countAll(), 'integer').as('count'),
      ])
      .groupBy(['r.service_id', 'r.hour'])
      .execute();
    return new Map(rows.map((row) => [hourKeyOf(row), row.count]));
  }

  async #addSessions(sessions: readonly ReleaseSessions[]): Promise<void> {
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

/** The tables that count by service, kind, reason and hour. */
interface CountRows {
  readonly sent_items: Row<typeof SentItemEntity>;
  readonly ingest_refusals: Row<typeof IngestRefusalEntity>;
}

type CountTable = keyof CountRows;

/** Adds to the counts, all or nothing. Those of a service that is gone are left out. */
async function addHourlyCounts<T extends CountTable>(
  { db }: Session,
  table: T,
  counts: readonly CountRows[T][],
): Promise<void> {
  if (counts.length === 0) return;
  const target: CountTable = table;
  const added = rowsOf('added', {
    service_id: ['text', counts.map(({ serviceId }) => serviceId)],
    kind: ['text', counts.map(({ kind }) => kind)],
    reason: ['text', counts.map(({ reason }) => reason)],
    hour: ['timestamptz', counts.map(({ hour }) => hour)],
    count: ['bigint', counts.map(({ count }) => count)],
    last_at: ['timestamptz', counts.map(({ lastAt }) => lastAt)],
  });
  await db
    .insertInto(target)
    .columns(['service_id', 'kind', 'reason', 'hour', 'count', 'last_at'])
    .expression(({ selectFrom }) =>
      selectFrom(added)
        .innerJoin('services as s', (join) =>
          join.onRef('s.id', '=', 'added.service_id').on('s.deleted_at', 'is', null),
        )
        .selectAll('added')
        // All processes lock rows in the same order.
        .orderBy('added.service_id')
        .orderBy('added.kind')
        .orderBy('added.reason')
        .orderBy('added.hour'),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['service_id', 'kind', 'reason', 'hour'])
        .doUpdateSet((eb) => ({
          count: eb(`${target}.count`, '+', eb.ref('excluded.count')),
          last_at: eb.fn('greatest', [`${target}.last_at`, 'excluded.last_at']),
        })),
    )
    .execute();
}

/** Lists the counts, the most frequent first. Whole hours are counted: the first is that in which `since` lies. */
async function listHourlyCounts<T extends CountTable>(
  { db }: Session,
  table: T,
  serviceId: Id<'service'>,
  since: Temporal.Instant,
): Promise<Pick<CountRows[T], 'kind' | 'reason' | 'count' | 'lastAt'>[]> {
  return await db
    .selectFrom<CountTable>(table)
    .select(({ fn, cast }) => [
      'kind',
      'reason',
      cast<number>(fn.sum('count'), 'bigint').as('count'),
      fn.max('last_at').as('lastAt'),
    ])
    .where('service_id', '=', serviceId)
    .where('last_at', '>', since)
    .groupBy(['kind', 'reason'])
    .orderBy('count', 'desc')
    .orderBy('kind')
    .orderBy('reason')
    .execute();
}
