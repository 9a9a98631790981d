import type { GroupingPart } from '#core/exceptions/grouping.ts';
import type { GroupState } from '#core/exceptions/sighting.ts';
import type { GroupStatus } from '#core/exceptions/triage.ts';
import { notFound } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';
import { GroupSightings, type SeenEvent, type SeenGroup } from '#storage/postgres/group_sightings.ts';

/** What says which events of a group are still kept. */
export interface GroupPlace {
  readonly id: Id<'group'>;
  readonly serviceId: Id<'service'>;
  /** How long the service keeps events. */
  readonly retentionDays: number;
}

/** A group as stored. `updatedAt` is when its status, title or level last changed, not when an event came. */
export interface ExceptionGroupRow extends GroupPlace, GroupState {
  readonly orgId: Id<'org'>;
  readonly groupingVersion: number;
  readonly groupingParts: readonly GroupingPart[];
  readonly createdAt: Temporal.Instant;
  readonly updatedAt: Temporal.Instant;
}

/**
 * A group as lists show it, with times as RFC 3339 texts: making instants of those of 1,000 groups, and texts of these,
 * held up the process for 20 ms.
 */
export interface ListedGroupRow extends Pick<
  ExceptionGroupRow,
  'id' | 'serviceId' | 'title' | 'type' | 'culprit' | 'level' | 'status' | 'resolvedInRelease'
> {
  readonly statusChangedAt: string;
  readonly regressedAt: string | null;
  readonly firstSeenAt: string;
  readonly lastSeenAt: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface GroupFilter {
  readonly serviceId: Id<'service'> | null;
  readonly status: GroupStatus | null;
}

const COLUMNS = `g.id, g.org_id as "orgId", g.service_id as "serviceId", g.grouping_version as "groupingVersion",
  g.grouping_parts as "groupingParts", g.title, g.type, g.culprit, g.pattern, g.level, g.status,
  g.status_changed_at as "statusChangedAt", g.resolved_in_release as "resolvedInRelease",
  g.regressed_at as "regressedAt", g.first_seen_at as "firstSeenAt", g.last_seen_at as "lastSeenAt",
  g.first_release as "firstRelease", g.last_release as "lastRelease",
  g.created_at as "createdAt", g.updated_at as "updatedAt", s.retention_exceptions as "retentionDays"`;

const LISTED_COLUMNS = `g.id, g.service_id as "serviceId", g.title, g.type, g.culprit, g.level, g.status,
  g.resolved_in_release as "resolvedInRelease", ${timestamp('status_changed_at')} as "statusChangedAt",
  ${timestamp('regressed_at')} as "regressedAt", ${timestamp('first_seen_at')} as "firstSeenAt",
  ${timestamp('last_seen_at')} as "lastSeenAt", ${timestamp('created_at')} as "createdAt",
  ${timestamp('updated_at')} as "updatedAt"`;

/** Groups are hidden with their service, and once their last event is older than the service keeps ($2 is now). */
const VISIBLE = `exception_groups g join services s on s.id = g.service_id and s.deleted_at is null
  and g.last_seen_at >= $2::timestamptz - make_interval(hours => 24 * s.retention_exceptions)`;

/** The same for lists: what a service keeps is computed once a service, which took most of the time of a long list. */
const LISTED = `with kept as materialized (
    select id, retention_exceptions, $2::timestamptz - make_interval(hours => 24 * retention_exceptions) as since
    from services where org_id = $1 and deleted_at is null)`;

const LISTED_FROM = `exception_groups g join kept s on s.id = g.service_id and g.last_seen_at >= s.since
  where g.org_id = $1 and ($3::text is null or g.service_id = $3) and ($4::text is null or g.status = $4)`;

/** Deduplicated exceptions: what people see and decide of them. Their events are in ClickHouse. */
export class ExceptionGroupStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Which groups a list shows, last seen first, and how many there are in all. */
  async listPlaces(
    orgId: Id<'org'>,
    filter: GroupFilter,
    now: Temporal.Instant,
    limit: number,
  ): Promise<{ places: GroupPlace[]; total: number }> {
    const parameters = [orgId, now.toString(), filter.serviceId, filter.status];
    const [places, counted] = await Promise.all([
      this.#session.sql.rows<GroupPlace>(
        `${LISTED} select g.id, g.service_id as "serviceId", s.retention_exceptions as "retentionDays"
         from ${LISTED_FROM} order by g.last_seen_at desc, g.id desc limit $5`,
        [...parameters, limit],
      ),
      this.#session.sql.row<{ total: number }>(`${LISTED} select count(*) as total from ${LISTED_FROM}`, parameters),
    ]);
    return { places, total: Math.max(places.length, counted?.total ?? 0) };
  }

  /** By id; a group that is gone is absent. */
  async findListed(ids: readonly Id<'group'>[]): Promise<Map<Id<'group'>, ListedGroupRow>> {
    const rows = await this.#session.sql.rows<ListedGroupRow>(
      `select ${LISTED_COLUMNS} from exception_groups g join services s on s.id = g.service_id and s.deleted_at is null
       where g.id = any($1)`,
      [ids],
    );
    return new Map(rows.map((group) => [group.id, group]));
  }

  /** Throws `not_found`. */
  async get(orgId: Id<'org'>, groupId: string, now: Temporal.Instant): Promise<ExceptionGroupRow> {
    return await this.#one(orgId, groupId, now, '');
  }

  /**
   * The one way in which a person's decision reaches a group; any status may follow any. The row is locked from here
   * to the end of the transaction. A resolved group remembers when, and the last release it was seen in.
   */
  async setStatus(
    orgId: Id<'org'>,
    groupId: string,
    status: GroupStatus,
    now: Temporal.Instant,
  ): Promise<{ before: ExceptionGroupRow; after: ExceptionGroupRow }> {
    const before = await this.#one(orgId, groupId, now, 'for update of g');
    if (before.status === status) return { before, after: before };
    const resolvedInRelease = status === 'resolved' ? before.lastRelease : null;
    await this.#session.sql.run(
      `update exception_groups set status = $2, status_changed_at = $3, resolved_in_release = $4, regressed_at = null,
         updated_at = $3 where id = $1`,
      [before.id, status, now.toString(), resolvedInRelease],
    );
    return {
      before,
      after: { ...before, status, statusChangedAt: now, resolvedInRelease, regressedAt: null, updatedAt: now },
    };
  }

  /** Nobody decides anything else of the group until the transaction ends; null when it is gone. */
  async lockStatus(groupId: Id<'group'>): Promise<GroupStatus | null> {
    const group = await this.#session.sql.row<{ status: GroupStatus }>(
      'select status from exception_groups where id = $1 for share',
      [groupId],
    );
    return group?.status ?? null;
  }

  /** When the service's newest event was; null when no group is left. */
  async lastSeenAt(serviceId: Id<'service'>): Promise<Temporal.Instant | null> {
    const row = await this.#session.sql.row<{ at: Temporal.Instant }>(
      'select last_seen_at as at from exception_groups where service_id = $1 order by last_seen_at desc limit 1',
      [serviceId],
    );
    return row?.at ?? null;
  }

  /** The incident that is open because of the group, if any. */
  async findOpenIncidentId(orgId: Id<'org'>, groupId: Id<'group'>): Promise<Id<'incident'> | null> {
    const incident = await this.#session.sql.row<{ id: Id<'incident'> }>(
      `select i.id from incidents i where i.org_id = $1 and i.status <> 'resolved' and (i.exception_group_id = $2
         or i.id in (select incident_id from incident_members where exception_group_id = $2 and ended_at is null))
       order by i.triggered_at desc limit 1`,
      [orgId, groupId],
    );
    return incident?.id ?? null;
  }

  /**
   * Removes up to `limit` groups whose last event is older than their service keeps; returns how many. One that an
   * event is just coming to is left alone.
   */
  async removeOutdated(now: Temporal.Instant, limit: number): Promise<number> {
    return await this.#session.sql.run(
      `delete from exception_groups where id in (
         select outdated.id from services s cross join lateral (
           select g.id from exception_groups g where g.service_id = s.id
             and g.last_seen_at < $1::timestamptz - make_interval(hours => 24 * s.retention_exceptions) limit $2
           for update skip locked
         ) as outdated limit $2)`,
      [now.toString(), limit],
    );
  }

  /** See `GroupSightings.upsert`. */
  async upsertSeen(
    events: readonly SeenEvent[],
    now: Temporal.Instant,
    newPerMinute: number,
  ): Promise<(SeenGroup | null)[]> {
    return await new GroupSightings(this.#session, newPerMinute).upsert(events, now);
  }

  async #one(
    orgId: Id<'org'>,
    groupId: string,
    now: Temporal.Instant,
    lock: '' | 'for update of g',
  ): Promise<ExceptionGroupRow> {
    const row = await this.#session.sql.row<ExceptionGroupRow>(
      `select ${COLUMNS} from ${VISIBLE} where g.org_id = $1 and g.id = $3 ${lock}`,
      [orgId, now.toString(), groupId],
    );
    if (row === null) throw notFound('groupId', 'exception group');
    return row;
  }
}

/** As `toTimestamp` writes it. */
function timestamp(column: string): string {
  return `to_char(g.${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
