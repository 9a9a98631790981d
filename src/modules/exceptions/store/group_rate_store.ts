import { type Id, idOfUuid, uuidOf } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { ColumnCondition } from '#modules/exceptions/decide/search_query.ts';
import { andConditions, EVENTS } from '#modules/exceptions/store/exception_counter.ts';
import type { ClickHouseClient } from '#storage/clickhouse/clickhouse.ts';
import { ClickHouseStore } from '#storage/clickhouse/read_rows.ts';
import { anyOf, columns, field, PostgresStore, type Row } from '#storage/postgres/store.ts';
import { ExceptionGroupEntity } from '#storage/postgres/entities/exceptions.ts';

const SHOWN = ['id', 'serviceId', 'title', 'level'] as const;

/** A group that may be over a limit. */
export type RatedGroup = Pick<Row<typeof ExceptionGroupEntity>, (typeof SHOWN)[number]>;

/** State of what a rule has opened for a group. */
interface Opened {
  readonly isOpen: boolean;
  /** Time at which the last one ended; null where none has. */
  readonly endedAt: Temporal.Instant | null;
}

/** Reads the data of rules on the rate of groups. */
export class GroupRateStore extends PostgresStore {
  /** The rules of exceptions that look at rates, by id; active or not. */
  async listRuleIds(): Promise<Id<'rule'>[]> {
    const rules = await this.selectFrom('alert_rules as r')
      .select('r.id')
      .where('r.kind', '=', 'exception')
      .where('r.enabled', '=', true)
      .where((eb) =>
        eb.or([
          eb(field(eb.ref('r.settings'), 'eventsOver'), 'is not', null),
          eb(field(eb.ref('r.settings'), 'usersOver'), 'is not', null),
        ]),
      )
      .orderBy('r.id')
      .execute();
    return rules.map(({ id }) => id);
  }

  /** The groups that take the events of these, as far as people have not resolved or ignored them. */
  async listTakers(groupIds: readonly Id<'group'>[]): Promise<RatedGroup[]> {
    return await this.selectFrom('exception_groups as g')
      .select(columns(ExceptionGroupEntity, 'g', SHOWN))
      .where('g.id', 'in', (eb) =>
        eb
          .selectFrom('exception_groups as e')
          .select(({ fn }) => fn.coalesce('e.merged_into_id', 'e.id').as('id'))
          .where('e.id', '=', anyOf(groupIds)),
      )
      .where('g.status', '=', 'unresolved')
      .orderBy('g.id')
      .execute();
  }

  /** Returns what was opened, by its key, by itself or in a storm; a key without anything is absent. */
  async findOpened(groupIds: readonly Id<'group'>[], ruleIds: readonly Id<'rule'>[]): Promise<Map<string, Opened>> {
    const { db } = this;
    const incidents = db
      .selectFrom('incidents as i')
      .select(['i.dedup_key as key', 'i.resolved_at as endedAt'])
      .where('i.exception_group_id', '=', anyOf(groupIds))
      .where('i.rule_id', '=', anyOf(ruleIds));
    const joined = db
      .selectFrom('incident_members as m')
      .select(['m.dedup_key as key', 'm.ended_at as endedAt'])
      .where('m.exception_group_id', '=', anyOf(groupIds))
      .where('m.rule_id', '=', anyOf(ruleIds));
    const rows = await db
      .selectFrom(incidents.unionAll(joined).as('o'))
      .select(({ fn, ref, eb }) => [
        'o.key',
        fn<boolean>('bool_or', [eb(ref('o.endedAt'), 'is', null)]).as('isOpen'),
        fn.max('o.endedAt').as('endedAt'),
      ])
      .groupBy('o.key')
      .execute();
    return new Map(rows.map(({ key, isOpen, endedAt }) => [key, { isOpen, endedAt }]));
  }
}

/** Groups of one window that are looked at more closely, shared by the services that are asked for at once. */
const GROUPS_MAX = 5_000;

/** Groups of each service at least, however many services there are: one with many leaves no other without. */
const GROUPS_OF_SERVICE_MIN = 250;

/** Reads which groups have had events lately. */
export class GroupRateReader extends ClickHouseStore {
  readonly #groupsMax: number;
  readonly #ofServiceMin: number;

  constructor(
    client: ClickHouseClient,
    limits: { readonly groups: number; readonly ofService: number } = {
      groups: GROUPS_MAX,
      ofService: GROUPS_OF_SERVICE_MIN,
    },
  ) {
    super(client);
    this.#groupsMax = limits.groups;
    this.#ofServiceMin = limits.ofService;
  }

  /**
   * The groups of these services that had an event since then which meets the conditions, of each service those with
   * most such events.
   */
  async listActive(
    serviceIds: readonly Id<'service'>[],
    since: Temporal.Instant,
    conditions: readonly ColumnCondition[],
  ): Promise<Id<'group'>[]> {
    const { sql, parameters } = andConditions(conditions);
    const limit = Math.max(this.#ofServiceMin, Math.floor(this.#groupsMax / serviceIds.length));
    const rows = await this.rows<[group: string]>(
      `SELECT group_id FROM exception_events
          PREWHERE service_id IN {services:Array(UUID)} AND at >= fromUnixTimestamp64Milli({since:Int64}, 'UTC')${sql}
          GROUP BY service_id, group_id ORDER BY ${EVENTS} DESC, group_id LIMIT {limit:UInt32} BY service_id`,
      { ...parameters, services: serviceIds.map(uuidOf), since: since.epochMilliseconds, limit },
    );
    return rows.map(([uuid]) => idOfUuid('group', uuid));
  }
}
