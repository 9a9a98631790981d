import { sql } from 'kysely';

import { GROUPING_VERSION } from '#modules/exceptions/decide/grouping.ts';
import { groupKeyOf, type SeenEvent } from '#modules/exceptions/decide/seen_events.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, rowsOf, toColumns } from '#storage/postgres/columns.ts';
import type { Session } from '#storage/postgres/database.ts';
import { ExceptionGroupKeyEntity } from '#storage/postgres/entities/exceptions.ts';
import { MessageTemplateStore } from '#modules/exceptions/store/message_template_store.ts';
import type { SeenGroup } from '#modules/exceptions/store/group_occurrences.ts';
import { prepared, type Values } from '#storage/postgres/prepared.ts';

/** An event with the key of the group that takes it. */
export interface PlacedEvent {
  readonly event: SeenEvent;
  /** The group whose own the event is, merged or not: its events are stored under this id. Null for a group to be. */
  readonly ownGroupId: Id<'group'> | null;
  /** A key that the group does not have yet: it has, or is to have, an earlier one. */
  readonly newKey: string | null;
}

/** The group of an event, as it was found or made. */
type FoundGroup = Pick<SeenGroup, 'groupId' | 'isOverflow'> | null;

interface KnownKey {
  readonly serviceId: Id<'service'>;
  readonly key: string;
  readonly groupId: Id<'group'>;
  /** Key of the group that takes its events. */
  readonly takerKey: string;
}

const FIND = prepared(
  (db, { serviceIds, keys }: Values<{ serviceIds: readonly Id<'service'>[]; keys: readonly string[] }>) =>
    db
      .with('wanted', (cte) =>
        cte
          .selectFrom(rowsOf('w', { service_id: ['text', serviceIds], key: ['text', keys] }))
          .leftJoin('exception_groups as g', (join) =>
            join.onRef('g.service_id', '=', 'w.service_id').onRef('g.key', '=', 'w.key'),
          )
          .leftJoin('exception_group_keys as k', (join) =>
            join.onRef('k.service_id', '=', 'w.service_id').onRef('k.key', '=', 'w.key'),
          )
          .select((eb) => [
            eb.ref('w.service_id').as('service_id'),
            eb.ref('w.key').as('key'),
            eb.fn.coalesce('g.id', 'k.group_id').as('group_id'),
          ]),
      )
      .selectFrom('wanted')
      .innerJoin('exception_groups as g', 'g.id', 'wanted.group_id')
      .leftJoin('exception_groups as taker', 'taker.id', 'g.merged_into_id')
      .select((eb) => [
        'wanted.service_id as serviceId',
        'wanted.key',
        'g.id as groupId',
        eb.fn.coalesce('taker.key', 'g.key').as('takerKey'),
      ]),
);

/** Services that have groups of an earlier version. */
const FIND_EARLIER = prepared((db, { serviceIds }: Values<{ serviceIds: readonly Id<'service'>[] }>) =>
  db
    .selectFrom('exception_groups')
    .select('service_id as serviceId')
    .distinct()
    .where('service_id', '=', anyOf(serviceIds))
    .where('grouping_version', '<', sql.lit(GROUPING_VERSION)),
);

/**
 * Query for the grouping version of a release that may be running on the same stores; no row when there is none. After
 * an upgrade over several versions it is the oldest: the releases between know its keys, too.
 */
const FIND_SIDE_BY_SIDE = prepared((db, { now }: Values<{ now: Temporal.Instant }>) =>
  db
    .selectFrom('migrated_by')
    .select((eb) =>
      eb
        .case()
        .when('version_2_until', '>', now)
        .then(sql.lit<number>(2))
        .when('version_3_until', '>', now)
        .then(sql.lit<number>(3))
        .else(sql.lit<number>(4))
        .end()
        .as('version'),
    )
    .where((eb) =>
      eb.or([eb('version_2_until', '>', now), eb('version_3_until', '>', now), eb('version_4_until', '>', now)]),
    ),
);

/** Finds the group of an event where that takes more than its own key: earlier versions, merged groups, templates. */
export class GroupKeyStore {
  readonly #session: Session;
  readonly #templates: MessageTemplateStore;

  constructor(session: Session) {
    this.#session = session;
    this.#templates = new MessageTemplateStore(session);
  }

  /** The events in the order given. Must run in the transaction that brings them to their groups. */
  async place(events: readonly SeenEvent[], now: Temporal.Instant): Promise<PlacedEvent[]> {
    if (events.length === 0) return [];
    const { events: learnt, splitOff } = await this.#templates.learn(events, now);
    // What a person has split off is of no earlier group.
    const earlier = (await this.#earlierKeys(events)).map((keys, index) => (splitOff.has(index) ? [] : keys));
    const groupsByKey = await this.#find(
      learnt.flatMap((event, index) => [
        { serviceId: event.serviceId, key: event.grouping.key },
        ...(earlier[index] ?? []).map((key) => ({ serviceId: event.serviceId, key })),
      ]),
    );
    const isNew = ({ serviceId, grouping }: SeenEvent): boolean =>
      !groupsByKey.has(groupKeyOf(serviceId, grouping.key));
    const [sideBySide] = learnt.some(isNew) ? await FIND_SIDE_BY_SIDE.rows(this.#session, { now }) : [];
    return learnt.map((event, index): PlacedEvent => {
      const { serviceId, grouping } = event;
      const group = groupsByKey.get(groupKeyOf(serviceId, grouping.key));
      const before = earlier[index]
        ?.map((key) => groupsByKey.get(groupKeyOf(serviceId, key)))
        .find((candidate) => candidate !== undefined);
      const assigned = before ?? group;
      if (assigned === undefined) {
        const version = sideBySide === undefined || splitOff.has(index) ? GROUPING_VERSION : sideBySide.version;
        const key = event.earlierKeys?.()[GROUPING_VERSION - 1 - version];
        if (key === undefined) return { event, ownGroupId: null, newKey: null };
        // The release before finds this group only by the key that it would have made.
        const asBefore = { ...grouping, key, version };
        const newKey = grouping.key === key ? null : grouping.key;
        return { event: { ...event, grouping: asBefore }, ownGroupId: null, newKey };
      }
      return {
        event: { ...event, grouping: { ...grouping, key: assigned.takerKey } },
        ownGroupId: assigned.groupId,
        newKey: group === undefined ? grouping.key : null,
      };
    });
  }

  /**
   * Call it once the groups of placed events are locked; `found` are these, in the order of the events. Groups that were
   * merged are kept as long as events come.
   */
  async remember(
    placed: readonly PlacedEvent[],
    assignedGroups: readonly FoundGroup[],
    now: Temporal.Instant,
  ): Promise<void> {
    const added = new Map(
      placed.flatMap(({ event: { serviceId }, ownGroupId, newKey }, index) => {
        const made = assignedGroups[index];
        const groupId = ownGroupId ?? (made?.isOverflow === false ? made.groupId : null);
        if (newKey === null || groupId === null) return [];
        return [[groupKeyOf(serviceId, newKey), { serviceId, key: newKey, groupId, createdAt: now }] as const];
      }),
    );
    if (added.size > 0) {
      await this.#session.db
        .insertInto('exception_group_keys')
        .values([...added.values()].map((row) => toColumns(ExceptionGroupKeyEntity, row)))
        .onConflict((conflict) => conflict.columns(['service_id', 'key']).doNothing())
        .execute();
    }
    const ownIds = [...new Set(placed.flatMap(({ ownGroupId }) => ownGroupId ?? []))].toSorted();
    if (ownIds.length === 0) return;
    await TOUCH_MERGED.rows(this.#session, { groupIds: ownIds });
  }

  /** Counts the keys of a group besides the one that it began with. */
  async countFurther(groupId: Id<'group'>): Promise<number> {
    const { count } = await this.#session.db
      .selectFrom('exception_group_keys')
      .select(({ fn, cast }) => cast<number>(fn.countAll(), 'integer').as('count'))
      .where('group_id', '=', groupId)
      .executeTakeFirstOrThrow();
    return count;
  }

  async #earlierKeys(events: readonly SeenEvent[]): Promise<readonly (readonly string[])[]> {
    const serviceIds = [...new Set(events.map(({ serviceId }) => serviceId))];
    const withEarlier = new Set(
      (await FIND_EARLIER.rows(this.#session, { serviceIds })).map(({ serviceId }) => serviceId),
    );
    if (withEarlier.size === 0) return [];
    const learnt = await this.#templates.earlierKeys(events);
    return events.map(({ serviceId, earlierKeys }, index) => {
      if (!withEarlier.has(serviceId)) return [];
      const template = learnt.get(index);
      return [...(template === undefined ? [] : [template]), ...(earlierKeys?.() ?? [])];
    });
  }

  async #find(
    wanted: readonly { readonly serviceId: Id<'service'>; readonly key: string }[],
  ): Promise<Map<string, KnownKey>> {
    const distinct = [...new Map(wanted.map((keyed) => [groupKeyOf(keyed.serviceId, keyed.key), keyed])).values()];
    const rows = await FIND.rows(this.#session, {
      serviceIds: distinct.map(({ serviceId }) => serviceId),
      keys: distinct.map(({ key }) => key),
    });
    return new Map(rows.map((row) => [groupKeyOf(row.serviceId, row.key), row]));
  }
}

/** A merged group was last seen when the one that takes its events was. */
const TOUCH_MERGED = prepared((db, { groupIds }: Values<{ groupIds: readonly Id<'group'>[] }>) =>
  db
    .updateTable('exception_groups as g')
    .from('exception_groups as taker')
    .set((eb) => ({ last_seen_at: eb.ref('taker.last_seen_at') }))
    .whereRef('taker.id', '=', 'g.merged_into_id')
    .where('g.id', '=', anyOf(groupIds)),
);
