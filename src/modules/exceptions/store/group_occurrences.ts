import type { Level } from '#modules/exceptions/decide/level.ts';
import {
  type CheckedEvents,
  eventsByGroup,
  type GroupEvents,
  type GroupOutcome,
  groupKeyOf,
  isNoticeable,
  listReopening,
  onOccurrences,
  OVERFLOW,
  type SeenEvent,
  UncheckedEvents,
  withinGroupLimit,
} from '#modules/exceptions/decide/seen_events.ts';
import type { EventDecision } from '#modules/exceptions/decide/triage.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import {
  allBut,
  anyOf,
  columnNames,
  columns,
  holdLocks,
  prepared,
  type Records,
  recordsOf,
  type Row,
  rowsOf,
  toRecords,
  type Values,
} from '#storage/postgres/store.ts';
import type { Session } from '#storage/postgres/database.ts';
import { ExceptionGroupEntity, type GroupRegressionEntity } from '#storage/postgres/entities/exceptions.ts';
import { GroupReleaseStore } from '#modules/exceptions/store/group_release_store.ts';

/** Result of the events of one batch for one group: the most telling decision, and the worst level from its event on. */
export interface SeenGroup {
  readonly groupId: Id<'group'>;
  readonly serviceId: Id<'service'>;
  readonly outcome: EventDecision;
  readonly level: Level;
  /** Whether it is the group for events of groups that would have been too many. */
  readonly isOverflow: boolean;
  /** Id that its client gave the event of that decision: the one that began the group or brought it back, else the first. */
  readonly decidingEventId: string;
}

type Group = Row<typeof ExceptionGroupEntity>;
type FoundGroup = Pick<Group, 'id' | 'serviceId' | 'key'>;

/** Columns that are read of a group that events come to. */
const KNOWN = allBut(
  ExceptionGroupEntity,
  'orgId',
  'groupingVersion',
  'groupingParts',
  'createdAt',
  'mergedIntoId',
  'mergedAt',
  'assignedUserId',
  'assignedTeamId',
  'issueUrl',
);
type KnownGroup = Pick<Group, (typeof KNOWN)[number]>;

interface KeyColumns {
  readonly serviceIds: readonly Id<'service'>[];
  readonly keys: readonly string[];
}

const FIND_EXISTING = prepared((db, { serviceIds, keys }: Values<KeyColumns>) =>
  db
    .selectFrom(rowsOf('wanted', { service_id: ['text', serviceIds], key: ['text', keys] }))
    .innerJoin('exception_groups as g', (join) =>
      join.onRef('g.service_id', '=', 'wanted.service_id').onRef('g.key', '=', 'wanted.key'),
    )
    .select(['g.service_id as serviceId', 'g.key']),
);

const COUNT_BEGUN = prepared(
  (db, { serviceIds, since }: Values<{ serviceIds: readonly Id<'service'>[]; since: Temporal.Instant }>) =>
    db
      .selectFrom('exception_groups')
      .select((eb) => ['service_id as serviceId', eb.fn.countAll<number>().as('count')])
      .where('service_id', '=', anyOf(serviceIds))
      .where('created_at', '>', since)
      .groupBy('service_id'),
);

const INSERT_UNKNOWN = prepared((db, { groups }: Values<{ groups: Records<Group> }>) =>
  db
    .insertInto('exception_groups')
    .columns(columnNames(ExceptionGroupEntity))
    .expression((eb) =>
      eb
        .selectFrom(recordsOf('g', ExceptionGroupEntity, groups))
        .innerJoin('services as s', (join) =>
          join.onRef('s.id', '=', 'g.service_id').onRef('s.org_id', '=', 'g.org_id').on('s.deleted_at', 'is', null),
        )
        .select(columns(ExceptionGroupEntity, 'g'))
        .orderBy('g.service_id')
        .orderBy('g.key'),
    )
    .onConflict((conflict) => conflict.columns(['service_id', 'key']).doNothing())
    .returning(['id', 'service_id as serviceId', 'key']),
);

const LOCK_KNOWN = prepared(
  (db, { orgIds, serviceIds, keys }: Values<KeyColumns & { readonly orgIds: readonly Id<'org'>[] }>) =>
    db
      .selectFrom(rowsOf('wanted', { org_id: ['text', orgIds], service_id: ['text', serviceIds], key: ['text', keys] }))
      .innerJoin('exception_groups as g', (join) =>
        join
          .onRef('g.org_id', '=', 'wanted.org_id')
          .onRef('g.service_id', '=', 'wanted.service_id')
          .onRef('g.key', '=', 'wanted.key'),
      )
      .innerJoin('services as s', (join) => join.onRef('s.id', '=', 'g.service_id').on('s.deleted_at', 'is', null))
      .select(columns(ExceptionGroupEntity, 'g', KNOWN))
      .orderBy('g.service_id')
      .orderBy('g.key')
      .forUpdate('g'),
);

const UPDATE = prepared((db, { groups }: Values<{ groups: Records<KnownGroup> }>) =>
  db
    .updateTable('exception_groups as g')
    .from(recordsOf('u', ExceptionGroupEntity, groups))
    .set((eb) => ({
      title: eb.ref('u.title'),
      pattern: eb.ref('u.pattern'),
      level: eb.ref('u.level'),
      status: eb.ref('u.status'),
      status_changed_at: eb.ref('u.status_changed_at'),
      resolved_in_release: eb.ref('u.resolved_in_release'),
      regressed_at: eb.ref('u.regressed_at'),
      first_seen_at: eb.ref('u.first_seen_at'),
      last_seen_at: eb.ref('u.last_seen_at'),
      first_release: eb.ref('u.first_release'),
      last_release: eb.ref('u.last_release'),
      updated_at: eb.ref('u.updated_at'),
    }))
    .whereRef('g.id', '=', 'u.id'),
);

/** Brings batches of events to their groups, whole batches by single statements. */
export class GroupOccurrences {
  readonly #session: Session;
  readonly #newPerMinute: number;
  readonly #checked: CheckedEvents | null;

  /**
   * @param newPerMinute groups that a service may begin a minute; Infinity for no limit
   * @param checked events that were looked up; null to take none for one that is stored already
   */
  constructor(session: Session, newPerMinute: number, checked: CheckedEvents | null) {
    this.#session = session;
    this.#newPerMinute = newPerMinute;
    this.#checked = checked;
  }

  /**
   * Returns one entry for each event, in the order given, and the same object for events of one group; null where the
   * service is gone. Must run in a transaction: its locks, taken in one order by everybody, make concurrent batches
   * wait for each other instead of losing what one of them saw. The same batch again changes nothing. Throws
   * `UncheckedEvents` for events that reopen a group and were not looked up.
   */
  async upsert(seenEvents: readonly SeenEvent[], now: Temporal.Instant): Promise<(SeenGroup | null)[]> {
    const events = await this.#withinLimit(seenEvents, now);
    const byGroup = eventsByGroup(events);
    const seen = new Map<string, SeenGroup>();
    // The second time is for a known group that retention removed before it was locked: it is made anew.
    for (const _time of [1, 2]) {
      const unseen = new Map([...byGroup].filter(([key]) => !seen.has(key)));
      if (unseen.size > 0) await this.#see(unseen, seen, now);
    }
    return events.map((event) => seen.get(groupKeyOf(event.serviceId, event.grouping.key)) ?? null);
  }

  async #withinLimit(events: readonly SeenEvent[], now: Temporal.Instant): Promise<readonly SeenEvent[]> {
    if (this.#newPerMinute === Infinity) return events;
    const byGroup = eventsByGroup(events);
    const groupEvents = [...byGroup.values()];
    const existing = await this.#findExisting(groupEvents);
    const unknown = [...byGroup].filter(([key]) => !existing.has(key)).map(([, [{ serviceId }]]) => serviceId);
    if (unknown.length === 0) return events;
    // Several processes would each begin as many as there may be together.
    const serviceIds = [...new Set(unknown)];
    await holdLocks(
      this.#session,
      serviceIds.map((serviceId) => `new groups ${serviceId}`),
    );
    const begun = await this.#countBegun(serviceIds, now);
    return withinGroupLimit(events, await this.#findExisting(groupEvents), begun, this.#newPerMinute);
  }

  /** Groups that services have begun within the last minute. */
  async #countBegun(serviceIds: readonly Id<'service'>[], now: Temporal.Instant): Promise<Map<string, number>> {
    const begun = await COUNT_BEGUN.rows(this.#session, { serviceIds, since: now.subtract({ minutes: 1 }) });
    return new Map(begun.map(({ serviceId, count }) => [serviceId, count]));
  }

  async #see(
    unseen: ReadonlyMap<string, GroupEvents>,
    seen: Map<string, SeenGroup>,
    now: Temporal.Instant,
  ): Promise<void> {
    const existing = await this.#findExisting([...unseen.values()]);
    const unknown = [...unseen].filter(([key]) => !existing.has(key)).map(([, events]) => events);
    for (const made of await this.#insertUnknown(unknown, now)) {
      const events = unseen.get(groupKeyOf(made.serviceId, made.key));
      if (events === undefined) continue;
      seen.set(groupKeyOf(made.serviceId, made.key), toSeen(made, onOccurrences(null, events)));
    }
    const rest = [...unseen].filter(([key]) => !seen.has(key)).map(([, unseenEvents]) => unseenEvents);
    const changed: KnownGroup[] = [];
    const regressions: Row<typeof GroupRegressionEntity>[] = [];
    const locked = await this.#lockKnown(rest);
    const releases = new GroupReleaseStore(this.#session);
    // Read once the groups are locked: what was said while another decision was waited for counts, too.
    const resolved = locked.filter(({ status }) => status === 'resolved');
    const fixes = await releases.listFixes(resolved.map(({ id }) => id));
    const arrivals = locked.flatMap((group) => {
      const events = unseen.get(groupKeyOf(group.serviceId, group.key));
      return events === undefined ? [] : [{ group, before: { ...group, fix: fixes.get(group.id) ?? null }, events }];
    });
    const checked = this.#checked;
    if (checked !== null) {
      const unchecked = arrivals.flatMap(({ before, events }) =>
        listReopening(before, events).flatMap((event) =>
          checked.get(event) === undefined ? [{ groupId: before.id, event }] : [],
        ),
      );
      if (unchecked.length > 0) throw new UncheckedEvents(unchecked);
    }
    for (const { group, before, events } of arrivals) {
      const meant = onOccurrences(before, events, (event) => checked?.get(event) === true);
      seen.set(groupKeyOf(group.serviceId, group.key), toSeen(group, meant));
      const { state, outcome, deciding } = meant;
      const { fix: _, ...stored } = state;
      changed.push({ ...group, ...stored, updatedAt: isNoticeable(group, state) ? now : group.updatedAt });
      const { release } = deciding.occurrence;
      if (outcome !== 'regression' || release === null || state.regressedAt === null) continue;
      const { id: groupId, serviceId } = group;
      regressions.push({ groupId, serviceId, release, at: state.regressedAt });
    }
    await this.#update(changed);
    await releases.addRegressions(regressions);
  }

  /** Keys that have a group, as far as is seen without waiting: most events are of groups long known. */
  async #findExisting(groupEvents: readonly GroupEvents[]): Promise<ReadonlySet<string>> {
    const existing = await FIND_EXISTING.rows(this.#session, keyColumnsOf(groupEvents));
    return new Set(existing.map(({ serviceId, key }) => groupKeyOf(serviceId, key)));
  }

  /**
   * Inserts unknown groups in the order of the keys. A key that another transaction is inserting is waited for, and
   * then known.
   */
  async #insertUnknown(groupEvents: readonly GroupEvents[], now: Temporal.Instant): Promise<FoundGroup[]> {
    if (groupEvents.length === 0) return [];
    const groups = groupEvents.map((events): Group => {
      const [{ orgId, serviceId, grouping }] = events;
      const { fix: _, ...state } = onOccurrences(null, events).state;
      return {
        id: newId('group'),
        orgId,
        serviceId,
        key: grouping.key,
        groupingVersion: grouping.version,
        groupingParts: grouping.parts,
        ...state,
        createdAt: now,
        updatedAt: now,
        mergedIntoId: null,
        mergedAt: null,
        assignedUserId: null,
        assignedTeamId: null,
        issueUrl: null,
      };
    });
    return await INSERT_UNKNOWN.rows(this.#session, { groups: toRecords(groups) });
  }

  /** Locks known groups, also in the order of the keys. */
  async #lockKnown(groupEvents: readonly GroupEvents[]): Promise<KnownGroup[]> {
    if (groupEvents.length === 0) return [];
    const orgIds = groupEvents.map(([{ orgId }]) => orgId);
    return await LOCK_KNOWN.rows(this.#session, { orgIds, ...keyColumnsOf(groupEvents) });
  }

  async #update(groups: readonly KnownGroup[]): Promise<void> {
    if (groups.length === 0) return;
    await UPDATE.rows(this.#session, { groups: toRecords(groups) });
  }
}

function toSeen({ id, serviceId, key }: FoundGroup, { outcome, level, deciding }: GroupOutcome): SeenGroup {
  const decidingEventId = deciding.occurrence.eventId;
  return { groupId: id, serviceId, outcome, level, decidingEventId, isOverflow: key === OVERFLOW.key };
}

function keyColumnsOf(groupEvents: readonly GroupEvents[]): KeyColumns {
  return {
    serviceIds: groupEvents.map(([{ serviceId }]) => serviceId),
    keys: groupEvents.map(([{ grouping }]) => grouping.key),
  };
}
