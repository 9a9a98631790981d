import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, field, type Row } from '#storage/postgres/columns.ts';
import type { Session } from '#storage/postgres/database.ts';
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
export class GroupRateStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** The rules of exceptions that look at rates, by id; active or not. */
  async listRuleIds(): Promise<Id<'rule'>[]> {
    const rules = await this.#session.db
      .selectFrom('alert_rules as r')
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
    return await this.#session.db
      .selectFrom('exception_groups as g')
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
    const { db } = this.#session;
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
