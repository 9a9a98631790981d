import { asId, type Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { AlertFilter, AlertListWanted, AlertOrder } from '#modules/alerts/decide/alert_filter.ts';
import type { IncidentStatus } from '#modules/incidents/decide/incident.ts';
import { alertCondition } from '#modules/alerts/store/alert_condition.ts';
import { AlertEntity } from '#storage/postgres/entities/alerts.ts';
import {
  anyOf,
  columnNames,
  columns,
  daysBefore,
  holdLocks,
  PostgresStore,
  prepared,
  type Records,
  recordsOf,
  type Row,
  rowsChanged,
  rowsOf,
  toRecords,
  type Values,
} from '#storage/postgres/store.ts';

export type AlertRow = Row<typeof AlertEntity>;

export interface AlertName {
  readonly sourceId: Id<'alertsource'>;
  readonly scope: string;
  readonly key: string;
}

/** The open incident that stands for an alert, by itself or as a storm. */
export interface StandingIncident {
  readonly dedupKey: string;
  readonly incidentId: Id<'incident'>;
  readonly isMember: boolean;
}

/** A group of which alerts are open, and their incident. */
export interface OpenGroup extends Pick<AlertRow, 'sourceId' | 'scope' | 'groupKey'> {
  readonly incidentId: Id<'incident'>;
}

/** An alert as stored, with its incident as far as events of the alert depend on it. */
export interface StoredAlert {
  readonly row: AlertRow;
  readonly incident: { readonly status: IncidentStatus; readonly resolvedAt: Temporal.Instant | null } | null;
}

const SAVED_AT_ONCE = 200;
const SCOPES_MAX = 50;

interface NameColumns {
  readonly sourceIds: readonly Id<'alertsource'>[];
  readonly scopes: readonly string[];
  readonly keys: readonly string[];
}

const FIND_ALL = prepared((db, { sourceIds, scopes, keys }: Values<NameColumns>) =>
  db
    .selectFrom(rowsOf('w', { source_id: ['text', sourceIds], scope: ['text', scopes], key: ['text', keys] }))
    .innerJoin('alerts as a', (join) =>
      join.onRef('a.source_id', '=', 'w.source_id').onRef('a.scope', '=', 'w.scope').onRef('a.key', '=', 'w.key'),
    )
    .leftJoin('incidents as i', 'i.id', 'a.incident_id')
    .select(columns(AlertEntity, 'a'))
    .select(['i.status as incidentStatus', 'i.resolved_at as incidentResolvedAt']),
);

const SAVE_ALL = prepared((db, { rows }: Values<{ rows: Records<AlertRow> }>) =>
  db
    .insertInto('alerts')
    .columns(columnNames(AlertEntity))
    .expression((eb) => eb.selectFrom(recordsOf('r', AlertEntity, rows)).select(columns(AlertEntity, 'r')))
    .onConflict((conflict) =>
      conflict
        .columns(['source_id', 'scope', 'key'])
        .doUpdateSet(({ ref }) => ({
          group_key: ref('excluded.group_key'),
          tool: ref('excluded.tool'),
          status: ref('excluded.status'),
          severity: ref('excluded.severity'),
          title: ref('excluded.title'),
          details: ref('excluded.details'),
          links: ref('excluded.links'),
          images: ref('excluded.images'),
          history: ref('excluded.history'),
          occurrences: ref('excluded.occurrences'),
          episode_at: ref('excluded.episode_at'),
          settled_at: ref('excluded.settled_at'),
          lease_until: ref('excluded.lease_until'),
          silent_since: ref('excluded.silent_since'),
          is_dropped: ref('excluded.is_dropped'),
          incident_id: ref('excluded.incident_id'),
          first_seen_at: ref('excluded.first_seen_at'),
          last_seen_at: ref('excluded.last_seen_at'),
        })),
    )
    .returning('id'),
);

const ORDER_COLUMNS = {
  firstSeenAt: 'a.first_seen_at',
  lastSeenAt: 'a.last_seen_at',
  key: 'a.key',
  title: 'a.title',
  status: 'a.status',
  occurrences: 'a.occurrences',
  id: 'a.id',
} as const satisfies Record<AlertOrder, string>;

/** Alerts of other tools. Those of a service change under its lock. */
export class AlertStore extends PostgresStore {
  /** Locks the alerts of these services until the transaction ends. */
  async hold(serviceIds: readonly Id<'service'>[]): Promise<void> {
    await holdLocks(
      this.session,
      serviceIds.map((serviceId) => `alerts ${serviceId}`),
    );
  }

  /** Counts the alerts of each source of the service that were heard of since both times. */
  async countSeen(
    serviceId: Id<'service'>,
    { hour, day }: { readonly hour: Temporal.Instant; readonly day: Temporal.Instant },
  ): Promise<Map<Id<'alertsource'>, { readonly hour: number; readonly day: number }>> {
    const counts = await this.selectFrom('alerts as a')
      .select(({ fn }) => [
        'a.source_id as sourceId',
        fn.countAll<number>().filterWhere('a.last_seen_at', '>', hour).as('hour'),
        fn.countAll<number>().as('day'),
      ])
      .where('a.service_id', '=', serviceId)
      .where('a.last_seen_at', '>', day)
      .groupBy('a.source_id')
      .execute();
    return new Map(counts.map(({ sourceId, ...count }) => [sourceId, count]));
  }

  async findAll(names: readonly AlertName[]): Promise<StoredAlert[]> {
    if (names.length === 0) return [];
    const stored = await FIND_ALL.rows(this.session, {
      sourceIds: names.map(({ sourceId }) => sourceId),
      scopes: names.map(({ scope }) => scope),
      keys: names.map(({ key }) => key),
    });
    return stored.map(({ incidentStatus, incidentResolvedAt, ...row }) => ({
      row,
      incident: incidentStatus === null ? null : { status: incidentStatus, resolvedAt: incidentResolvedAt },
    }));
  }

  /** Lists the installations that the alerts of each source name, up to 50 of a source. */
  async listScopes(sourceIds: readonly Id<'alertsource'>[]): Promise<Map<Id<'alertsource'>, string[]>> {
    if (sourceIds.length === 0) return new Map();
    // Each is found in the index after the one before: a source may have many alerts.
    const { db } = this;
    const named = await db
      .withRecursive('scopes', (recursive) =>
        recursive
          .selectFrom(rowsOf('w', { source_id: ['text', sourceIds] }))
          .crossJoinLateral(({ selectFrom, lit }) =>
            selectFrom('alerts as a')
              .select(['a.source_id', 'a.scope', lit(1).as('nth')])
              .whereRef('a.source_id', '=', 'w.source_id')
              .where('a.scope', '>', '')
              .orderBy('a.scope')
              .limit(1)
              .as('first'),
          )
          .selectAll('first')
          .unionAll(
            recursive
              .selectFrom('scopes')
              .crossJoinLateral(({ selectFrom, eb, ref }) =>
                selectFrom('alerts as a')
                  .select(['a.source_id', 'a.scope', eb(ref('scopes.nth'), '+', 1).as('nth')])
                  .whereRef('a.source_id', '=', 'scopes.source_id')
                  .whereRef('a.scope', '>', 'scopes.scope')
                  .where('scopes.nth', '<', SCOPES_MAX)
                  .orderBy('a.scope')
                  .limit(1)
                  .as('next'),
              )
              .selectAll('next'),
          ),
      )
      .selectFrom('scopes')
      .select(['source_id as sourceId', 'scope'])
      .execute();
    const bySource = Map.groupBy(named, ({ sourceId }) => sourceId);
    return new Map([...bySource].map(([sourceId, list]) => [sourceId, list.map(({ scope }) => scope)]));
  }

  /** Inserts or updates the rows, each under its name: whoever was first has the id. */
  async saveAll(rows: readonly AlertRow[]): Promise<void> {
    for (let from = 0; from < rows.length; from += SAVED_AT_ONCE) {
      await SAVE_ALL.rows(this.session, { rows: toRecords(rows.slice(from, from + SAVED_AT_ONCE)) });
    }
  }

  /** The incidents that are open under these keys, or stand for something under them. */
  async listStanding(dedupKeys: readonly string[]): Promise<StandingIncident[]> {
    if (dedupKeys.length === 0) return [];
    const { db } = this;
    const opened = await db
      .selectFrom('incidents')
      .select(['dedup_key as dedupKey', 'id as incidentId'])
      .where('dedup_key', '=', anyOf(dedupKeys))
      .where('status', '<>', 'resolved')
      .execute();
    const members = await db
      .selectFrom('incident_members')
      .select(['dedup_key as dedupKey', 'incident_id as incidentId'])
      .where('dedup_key', '=', anyOf(dedupKeys))
      .where('ended_at', 'is', null)
      .execute();
    return [
      ...members.map((standing) => ({ ...standing, isMember: true })),
      ...opened.map((standing) => ({ ...standing, isMember: false })),
    ];
  }

  /** The keys under which these incidents were opened, and which of them are storms. */
  async listIncidentKeys(
    incidentIds: readonly Id<'incident'>[],
  ): Promise<{ readonly incidentId: Id<'incident'>; readonly dedupKey: string; readonly isStorm: boolean }[]> {
    if (incidentIds.length === 0) return [];
    return await this.selectFrom('incidents as i')
      .select(({ eb }) => [
        'i.id as incidentId',
        'i.dedup_key as dedupKey',
        eb('i.storm_until', 'is not', null).$castTo<boolean>().as('isStorm'),
      ])
      .where('i.id', '=', anyOf(incidentIds))
      .execute();
  }

  /** Lists the groups of the open alerts of these incidents; an alert without one has null. */
  async listOpenGroups(incidentIds: readonly Id<'incident'>[]): Promise<OpenGroup[]> {
    const open = await this.selectFrom('alerts')
      .select(['incident_id as incidentId', 'source_id as sourceId', 'scope', 'group_key as groupKey'])
      .distinct()
      .where('incident_id', '=', anyOf(incidentIds))
      .where('status', '<>', 'resolved')
      .execute();
    return open.flatMap(({ incidentId, ...group }) => (incidentId === null ? [] : [{ incidentId, ...group }]));
  }

  /** The alerts that an incident stands for, oldest first. */
  async listOfIncident(incidentId: Id<'incident'>, limit: number): Promise<AlertRow[]> {
    return await this.selectFrom('alerts as a')
      .select(columns(AlertEntity, 'a'))
      .where('a.incident_id', '=', incidentId)
      .orderBy('a.first_seen_at')
      .orderBy('a.id')
      .limit(limit)
      .execute();
  }

  /**
   * Finds an alert of a service by its id, or by the key that its source gives it; null if there is none. Of several with one
   * key it is an open one, and of these the one that was heard of last.
   */
  async findNamed(
    serviceId: Id<'service'>,
    protocol: string,
    by: { readonly id: string } | { readonly key: string },
  ): Promise<AlertRow | null> {
    const row = await this.selectFrom('alerts as a')
      .innerJoin('alert_sources as s', 's.id', 'a.source_id')
      .select(columns(AlertEntity, 'a'))
      .where('a.service_id', '=', serviceId)
      .where('s.protocol', '=', protocol)
      .$if('id' in by, (query) => query.where('a.id', '=', asId('alert', 'id' in by ? by.id : '')))
      .$if('key' in by, (query) => query.where('a.key', '=', 'key' in by ? by.key : ''))
      .orderBy(({ eb }) => eb('a.status', '=', 'resolved'))
      .orderBy('a.last_seen_at', 'desc')
      .limit(1)
      .executeTakeFirst();
    return row ?? null;
  }

  /** Lists alerts of a service that came by the protocol. */
  async listMatching(
    serviceId: Id<'service'>,
    protocol: string,
    { filter, order, isDescending, offset, limit }: AlertListWanted,
  ): Promise<AlertRow[]> {
    return await this.#ofProtocol(serviceId, protocol, filter)
      .select(columns(AlertEntity, 'a'))
      .orderBy(ORDER_COLUMNS[order], isDescending ? 'desc' : 'asc')
      .orderBy('a.id')
      .offset(offset)
      .limit(limit)
      .execute();
  }

  async countMatching(serviceId: Id<'service'>, protocol: string, filter: AlertFilter | null): Promise<number> {
    const { count } = await this.#ofProtocol(serviceId, protocol, filter)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    return count;
  }

  #ofProtocol(serviceId: Id<'service'>, protocol: string, filter: AlertFilter | null) {
    return this.selectFrom('alerts as a')
      .where('a.service_id', '=', serviceId)
      .where('a.source_id', 'in', ({ selectFrom }) =>
        selectFrom('alert_sources as s')
          .select('s.id')
          .where('s.service_id', '=', serviceId)
          .where('s.protocol', '=', protocol),
      )
      .$if(filter !== null, (query) =>
        query.where((eb) => (filter === null ? eb.lit(true) : alertCondition(eb, filter))),
      );
  }

  /** Services with open alerts whose lease is over, and that are not shown as silent yet. */
  async listSilentServices(now: Temporal.Instant, limit: number): Promise<Id<'service'>[]> {
    const services = await this.selectFrom('alerts')
      .select('service_id')
      .distinct()
      .where('lease_until', '<=', now)
      .where('silent_since', 'is', null)
      .where('status', '<>', 'resolved')
      .limit(limit)
      .execute();
    return services.map(({ service_id }) => service_id);
  }

  /** Lists alerts of the service, which `hold` has locked, whose lease has ended. */
  async listSilent(serviceId: Id<'service'>, now: Temporal.Instant, limit: number): Promise<AlertRow[]> {
    return await this.selectFrom('alerts as a')
      .select(columns(AlertEntity, 'a'))
      .where('a.service_id', '=', serviceId)
      .where('a.lease_until', '<=', now)
      .where('a.silent_since', 'is', null)
      .where('a.status', '<>', 'resolved')
      .orderBy('a.lease_until')
      .limit(limit)
      .execute();
  }

  /** Removes up to `limit` resolved alerts that are older than their service keeps incidents; returns how many. */
  async removeOutdated(now: Temporal.Instant, limit: number): Promise<number> {
    const removed = await this.deleteFrom('alerts')
      .where('id', 'in', ({ selectFrom }) =>
        selectFrom('alerts as a')
          .innerJoin('services as s', 's.id', 'a.service_id')
          .select('a.id')
          .where('a.status', '=', 'resolved')
          .where(({ eb, ref }) => eb('a.last_seen_at', '<', daysBefore(now, ref('s.retention_oncall'))))
          .limit(limit),
      )
      .execute();
    return rowsChanged(removed);
  }

  /** Removes resolved alerts beyond the newest `kept` of each service; returns how many. */
  async removeExcess(kept: number, limit: number): Promise<number> {
    const removed = await this.deleteFrom('alerts')
      .where('id', 'in', ({ selectFrom }) =>
        selectFrom(
          selectFrom('alerts as a')
            .select(['a.id', 'a.status'])
            .select(({ fn }) =>
              fn
                .agg<number>('row_number')
                .over((over) => over.partitionBy('a.service_id').orderBy('a.last_seen_at', 'desc'))
                .as('nth'),
            )
            .as('r'),
        )
          .select('r.id')
          .where('r.nth', '>', kept)
          .where('r.status', '=', 'resolved')
          .limit(limit),
      )
      .execute();
    return rowsChanged(removed);
  }
}
