import type { Level } from '#core/exceptions/level.ts';
import type { Grouping } from '#core/exceptions/grouping.ts';
import { OVERFLOW, overflowing } from '#core/exceptions/overflow.ts';
import { type GroupState, onSighting, type Sighting } from '#core/exceptions/sighting.ts';
import { type EventDecision, worseLevel } from '#core/exceptions/triage.ts';
import { type Id, newId } from '#kernel/ids.ts';
import { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** An event on its way to its group. */
export interface SeenEvent {
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
  readonly grouping: Grouping;
  readonly sighting: Sighting;
}

/** What the events of one batch meant to one group: the most telling decision, and the worst level among them. */
export interface SeenGroup {
  readonly groupId: Id<'group'>;
  readonly serviceId: Id<'service'>;
  readonly outcome: EventDecision;
  readonly level: Level;
  /** Whether it is the group for events of groups that would have been too many. */
  readonly isOverflow: boolean;
}

/** All events of a batch that belong to one group, oldest first; at least one. */
type Bundle = readonly SeenEvent[];

interface StoredGroup extends GroupState {
  readonly id: Id<'group'>;
  readonly serviceId: Id<'service'>;
  readonly key: string;
  readonly updatedAt: Temporal.Instant;
}

interface GroupChange {
  readonly id: Id<'group'>;
  readonly state: GroupState;
  readonly updatedAt: Temporal.Instant;
}

/** Brings batches of events to their groups, whole batches by single statements. */
export class GroupSightings {
  readonly #session: Session;
  readonly #newPerMinute: number;

  /** @param newPerMinute groups that a service may begin a minute; Infinity for no limit */
  constructor(session: Session, newPerMinute: number) {
    this.#session = session;
    this.#newPerMinute = newPerMinute;
  }

  /**
   * One entry for each event, in the order given, and the same object for events of one group; null where the service
   * is gone. Must run in a transaction: its locks, taken in one order by everybody, make concurrent batches wait for
   * each other instead of losing what one of them saw. The same batch again changes nothing.
   */
  async upsert(seenEvents: readonly SeenEvent[], now: Temporal.Instant): Promise<(SeenGroup | null)[]> {
    const events = await this.#withinLimit(seenEvents, now);
    const bundles = bundle(events);
    const seen = new Map<string, SeenGroup>();
    // The second time is for a known group that retention removed before it was locked: it is made anew.
    for (const _time of [1, 2]) {
      const unseen = new Map([...bundles].filter(([place]) => !seen.has(place)));
      if (unseen.size > 0) await this.#see(unseen, seen, now);
    }
    return events.map((event) => seen.get(placeOf(event.serviceId, event.grouping.key)) ?? null);
  }

  /** Events of groups that would be too many new ones of their service go to its overflow group. */
  async #withinLimit(events: readonly SeenEvent[], now: Temporal.Instant): Promise<readonly SeenEvent[]> {
    if (this.#newPerMinute === Infinity) return events;
    const bundles = bundle(events);
    const existing = await this.#findExisting([...bundles.values()]);
    const unknown = [...bundles].filter(([place]) => !existing.has(place));
    if (unknown.length === 0) return events;
    const bySource = Map.groupBy(unknown, ([, own]) => firstOf(own).serviceId);
    const begun = await this.#countBegun([...bySource.keys()], now);
    const excess = new Set(
      [...bySource].flatMap(([serviceId, own]) => {
        const room = Math.max(0, this.#newPerMinute - (begun.get(serviceId) ?? 0));
        return own.slice(room).map(([place]) => place);
      }),
    );
    return events.map((event) =>
      excess.has(placeOf(event.serviceId, event.grouping.key))
        ? { ...event, grouping: OVERFLOW, sighting: overflowing(event.sighting) }
        : event,
    );
  }

  /** Groups that services have begun within the last minute. */
  async #countBegun(serviceIds: readonly Id<'service'>[], now: Temporal.Instant): Promise<Map<string, number>> {
    const rows = await this.#session.sql.rows<{ serviceId: string; count: number }>(
      `select service_id as "serviceId", count(*)::int as count from exception_groups
       where service_id = any($1) and created_at > $2 group by service_id`,
      [serviceIds, now.subtract({ minutes: 1 }).toString()],
    );
    return new Map(rows.map(({ serviceId, count }) => [serviceId, count]));
  }

  async #see(unseen: ReadonlyMap<string, Bundle>, seen: Map<string, SeenGroup>, now: Temporal.Instant): Promise<void> {
    const existing = await this.#findExisting([...unseen.values()]);
    const unknown = [...unseen].filter(([place]) => !existing.has(place)).map(([, events]) => events);
    for (const made of await this.#insertUnknown(unknown, now)) {
      const place = placeOf(made.serviceId, made.key);
      const { outcome, state } = fold(null, unseen.get(place) ?? []);
      seen.set(place, {
        groupId: made.id,
        serviceId: made.serviceId,
        outcome,
        level: state.level,
        isOverflow: made.key === OVERFLOW.key,
      });
    }
    const rest = [...unseen].filter(([place]) => !seen.has(place)).map(([, known]) => known);
    const changes: GroupChange[] = [];
    for (const known of await this.#lockKnown(rest)) {
      const place = placeOf(known.serviceId, known.key);
      const { outcome, state, level } = fold(known, unseen.get(place) ?? []);
      seen.set(place, {
        groupId: known.id,
        serviceId: known.serviceId,
        outcome,
        level,
        isOverflow: known.key === OVERFLOW.key,
      });
      changes.push({ id: known.id, state, updatedAt: isNoticeable(known, state) ? now : known.updatedAt });
    }
    await this.#update(changes);
  }

  /** Places that have a group, as far as is seen without waiting: most events are of groups long known. */
  async #findExisting(bundles: readonly Bundle[]): Promise<ReadonlySet<string>> {
    const rows = await this.#session.sql.rows<Pick<StoredGroup, 'serviceId' | 'key'>>(
      `select service_id as "serviceId", key
       from unnest($1::text[], $2::text[]) as wanted(service_id, key) join exception_groups using (service_id, key)`,
      placesOf(bundles),
    );
    return new Set(rows.map(({ serviceId, key }) => placeOf(serviceId, key)));
  }

  /** In the order of the keys. A key that another transaction is inserting is waited for, and then known. */
  async #insertUnknown(
    bundles: readonly Bundle[],
    now: Temporal.Instant,
  ): Promise<Pick<StoredGroup, 'id' | 'serviceId' | 'key'>[]> {
    if (bundles.length === 0) return [];
    const rows = bundles.map((events) => {
      const { orgId, serviceId, grouping } = firstOf(events);
      return {
        id: newId('group'),
        org_id: orgId,
        service_id: serviceId,
        key: grouping.key,
        grouping_version: grouping.version,
        grouping_parts: grouping.parts,
        ...toColumns(fold(null, events).state),
        created_at: now.toString(),
        updated_at: now.toString(),
      };
    });
    return await this.#session.sql.rows(
      `insert into exception_groups
       select g.* from json_populate_recordset(null::exception_groups, $1::json) g
       join services s on s.id = g.service_id and s.org_id = g.org_id and s.deleted_at is null
       order by g.service_id, g.key
       on conflict (service_id, key) do nothing
       returning id, service_id as "serviceId", key`,
      [JSON.stringify(rows, wellFormed)],
    );
  }

  /** In the order of the keys, too. */
  async #lockKnown(bundles: readonly Bundle[]): Promise<StoredGroup[]> {
    if (bundles.length === 0) return [];
    return await this.#session.sql.rows(
      `select g.id, g.service_id as "serviceId", g.key, g.title, g.type, g.culprit, g.pattern, g.level, g.status,
         g.status_changed_at as "statusChangedAt", g.resolved_in_release as "resolvedInRelease",
         g.regressed_at as "regressedAt", g.first_seen_at as "firstSeenAt", g.last_seen_at as "lastSeenAt",
         g.first_release as "firstRelease", g.last_release as "lastRelease", g.updated_at as "updatedAt"
       from unnest($1::text[], $2::text[], $3::text[]) as wanted(service_id, key, org_id)
       join exception_groups g using (org_id, service_id, key)
       join services s on s.id = g.service_id and s.deleted_at is null
       order by g.service_id, g.key for update of g`,
      [...placesOf(bundles), bundles.map((events) => firstOf(events).orgId)],
    );
  }

  async #update(changes: readonly GroupChange[]): Promise<void> {
    if (changes.length === 0) return;
    const rows = changes.map(({ id, state, updatedAt }) => ({
      id,
      ...toColumns(state),
      updated_at: updatedAt.toString(),
    }));
    await this.#session.sql.run(
      `update exception_groups g set title = u.title, pattern = u.pattern, level = u.level, status = u.status,
         status_changed_at = u.status_changed_at, resolved_in_release = u.resolved_in_release,
         regressed_at = u.regressed_at, first_seen_at = u.first_seen_at, last_seen_at = u.last_seen_at,
         first_release = u.first_release, last_release = u.last_release, updated_at = u.updated_at
       from json_populate_recordset(null::exception_groups, $1::json) u where g.id = u.id`,
      [JSON.stringify(rows, wellFormed)],
    );
  }
}

/** The group after all of them, what they meant to it together, and the worst level among them. */
function fold(
  group: GroupState | null,
  events: Bundle,
): { readonly state: GroupState; readonly outcome: EventDecision; readonly level: Level } {
  const { sighting } = firstOf(events);
  let { state, decision: outcome } = onSighting(group, sighting);
  let { level } = sighting;
  for (const { sighting: next } of events.slice(1)) {
    const after = onSighting(state, next);
    state = after.state;
    level = worseLevel(level, next.level);
    if (after.decision === 'regression') outcome = 'regression';
  }
  return { state, outcome, level };
}

function toColumns(state: GroupState): Record<string, string | null> {
  return {
    title: state.title,
    type: state.type,
    culprit: state.culprit,
    pattern: state.pattern,
    level: state.level,
    status: state.status,
    status_changed_at: state.statusChangedAt.toString(),
    resolved_in_release: state.resolvedInRelease,
    regressed_at: state.regressedAt?.toString() ?? null,
    first_seen_at: state.firstSeenAt.toString(),
    last_seen_at: state.lastSeenAt.toString(),
    first_release: state.firstRelease,
    last_release: state.lastRelease,
  };
}

/** What a person sees as a change of the group itself; one event more is none. */
function isNoticeable(before: GroupState, after: GroupState): boolean {
  return before.title !== after.title || before.level !== after.level || before.status !== after.status;
}

function bundle(events: readonly SeenEvent[]): Map<string, Bundle> {
  const oldestFirst = events.toSorted((a, b) => Temporal.Instant.compare(a.sighting.at, b.sighting.at));
  return Map.groupBy(oldestFirst, (event) => placeOf(event.serviceId, event.grouping.key));
}

function placeOf(serviceId: Id<'service'>, key: string): string {
  return `${serviceId} ${key}`;
}

/** Services and keys as two columns. */
function placesOf(bundles: readonly Bundle[]): readonly [readonly string[], readonly string[]] {
  const first = bundles.map(firstOf);
  return [first.map(({ serviceId }) => serviceId), first.map(({ grouping }) => grouping.key)];
}

function firstOf(events: Bundle): SeenEvent {
  const [first] = events;
  if (first === undefined) throw new Error('a bundle holds at least one event');
  return first;
}

/** PostgreSQL refuses half a surrogate pair, which a text cut short may end in. */
function wellFormed(_name: string, value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}
