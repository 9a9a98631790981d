import { groupKeyOf, type SeenEvent } from '#modules/exceptions/decide/seen_events.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, prepared, rowsOf, type Values } from '#storage/postgres/store.ts';
import type { Session } from '#storage/postgres/database.ts';
import { MessageTemplateStore } from '#modules/exceptions/store/message_template_store.ts';

/** An event with the key of the group that takes it. */
export interface PlacedEvent {
  readonly event: SeenEvent;
  /** The group whose own the event is, merged or not: its events are stored under this id. Null for a group to be. */
  readonly ownGroupId: Id<'group'> | null;
}

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

/** Finds the group of an event where that takes more than its own key: merged groups, templates, further keys. */
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
    const learnt = await this.#templates.learn(events, now);
    const groupsByKey = await this.#find(learnt.map(({ serviceId, grouping }) => ({ serviceId, key: grouping.key })));
    return learnt.map((event): PlacedEvent => {
      const { serviceId, grouping } = event;
      const group = groupsByKey.get(groupKeyOf(serviceId, grouping.key));
      if (group === undefined) return { event, ownGroupId: null };
      return { event: { ...event, grouping: { ...grouping, key: group.takerKey } }, ownGroupId: group.groupId };
    });
  }

  /** Keeps merged groups as long as events of theirs come. Call it once the groups of placed events are locked. */
  async touchMerged(placed: readonly PlacedEvent[]): Promise<void> {
    const groupIds = [...new Set(placed.flatMap(({ ownGroupId }) => ownGroupId ?? []))].toSorted();
    if (groupIds.length > 0) await TOUCH_MERGED.rows(this.#session, { groupIds });
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
