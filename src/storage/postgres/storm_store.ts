import type { RuleKind } from '#core/incidents/rule_kinds.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** What would have opened an incident of its own. */
export interface NewMember {
  readonly dedupKey: string;
  readonly ruleId: Id<'rule'>;
  readonly exceptionGroupId: Id<'group'> | null;
  readonly title: string;
  readonly severity: string;
}

/** A member as people see it. */
export interface StormMember {
  readonly ruleId: Id<'rule'> | null;
  readonly exceptionGroupId: Id<'group'> | null;
  readonly title: string;
  readonly severity: string;
  readonly occurrences: number;
  readonly joinedAt: Temporal.Instant;
  readonly endedAt: Temporal.Instant | null;
}

/** What a service and a kind of rule have open. */
interface Source {
  readonly serviceId: Id<'service'>;
  readonly kind: RuleKind;
}

/** Incidents that stand for others, which would have been too many. Whoever opens incidents of a service holds its lock. */
export class StormStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Until the transaction ends nobody else opens incidents of the service and kind. */
  async holdOpening({ serviceId, kind }: Source): Promise<void> {
    await this.#session.sql.run("select pg_advisory_xact_lock(hashtextextended('open ' || $1 || $2, 0))", [
      serviceId,
      kind,
    ]);
  }

  /** Incidents opened and members joined since then; counts no further than `most`. */
  async countRecent({ serviceId, kind }: Source, since: Temporal.Instant, most: number): Promise<number> {
    const row = await this.#session.sql.row<{ count: number }>(
      `select (select count(*) from (select 1 from incidents where service_id = $1 and kind = $2
           and triggered_at > $3 and storm_until is null limit $4) opened)::int
         + (select count(*) from (select 1 from incident_members where service_id = $1 and kind = $2
           and joined_at > $3 limit $4) joined)::int as count`,
      [serviceId, kind, since.toString(), most],
    );
    return row?.count ?? 0;
  }

  /** Of these keys those under which something is open; each of them has one occurrence more. */
  async countOpen(dedupKeys: readonly string[], now: Temporal.Instant): Promise<Set<string>> {
    const open = await this.#session.sql.rows<{ dedupKey: string }>(
      `with own as (
         update incidents set occurrences = occurrences + 1, counted_at = $2, clear_since = null, updated_at = $2
         where dedup_key = any($1) and status <> 'resolved' returning dedup_key),
       joined as (
         update incident_members set occurrences = occurrences + 1, counted_at = $2, clear_since = null
         where dedup_key = any($1) and ended_at is null returning dedup_key)
       select dedup_key as "dedupKey" from own union all select dedup_key from joined`,
      [dedupKeys, now.toString()],
    );
    return new Set(open.map(({ dedupKey }) => dedupKey));
  }

  /** The storm that takes members now, locked until the transaction ends. */
  async lockCurrent(
    { serviceId, kind }: Source,
    policyId: Id<'policy'> | null,
    now: Temporal.Instant,
  ): Promise<{ readonly id: Id<'incident'>; readonly severity: string } | null> {
    return await this.#session.sql.row(
      `select id, severity from incidents
       where service_id = $1 and kind = $2 and escalation_policy_id is not distinct from $3
         and status <> 'resolved' and storm_until > $4
       order by triggered_at desc limit 1 for update`,
      [serviceId, kind, policyId, now.toString()],
    );
  }

  async addMembers(
    incidentId: Id<'incident'>,
    { serviceId, kind }: Source,
    members: readonly NewMember[],
    now: Temporal.Instant,
  ): Promise<void> {
    await this.#session.sql.run(
      `insert into incident_members (incident_id, service_id, kind, dedup_key, rule_id, exception_group_id, title,
         severity, joined_at, counted_at)
       select $1, $2, $3, m->>'dedupKey', m->>'ruleId', m->>'exceptionGroupId', m->>'title', m->>'severity', $5, $5
       from json_array_elements($4::json) m
       on conflict (incident_id, dedup_key) do update
         set ended_at = null, clear_since = null, counted_at = $5, joined_at = $5,
           occurrences = incident_members.occurrences + 1`,
      [incidentId, serviceId, kind, JSON.stringify(members), now.toString()],
    );
  }

  async count(incidentId: Id<'incident'>): Promise<number> {
    const row = await this.#session.sql.row<{ count: number }>(
      'select count(*)::int as count from incident_members where incident_id = $1',
      [incidentId],
    );
    return row?.count ?? 0;
  }

  /** Says what the storm stands for now, and until when it takes members. */
  async describe(
    incidentId: Id<'incident'>,
    {
      title,
      severity,
      details,
      members,
    }: {
      readonly title: string;
      readonly severity: string;
      readonly details: object;
      readonly members: number;
    },
    until: Temporal.Instant,
    now: Temporal.Instant,
  ): Promise<void> {
    await this.#session.sql.run(
      `update incidents set title = $2, severity = $3, details = $4, occurrences = $5, storm_until = $6,
         counted_at = $7, updated_at = $7 where id = $1`,
      [incidentId, title, severity, JSON.stringify(details), members, until.toString(), now.toString()],
    );
  }

  /** Newest first. */
  async listMembers(incidentId: Id<'incident'>, limit: number): Promise<StormMember[]> {
    return await this.#session.sql.rows(
      `select rule_id as "ruleId", exception_group_id as "exceptionGroupId", title, severity, occurrences,
         joined_at as "joinedAt", ended_at as "endedAt"
       from incident_members where incident_id = $1 order by joined_at desc, dedup_key limit $2`,
      [incidentId, limit],
    );
  }

  /** The storms that stand for the exception group. */
  async listOfGroup(groupId: Id<'group'>): Promise<Id<'incident'>[]> {
    const rows = await this.#session.sql.rows<{ id: Id<'incident'> }>(
      'select incident_id as id from incident_members where exception_group_id = $1 and ended_at is null order by 1',
      [groupId],
    );
    return rows.map(({ id }) => id);
  }

  /** Ends what the storm, whose row is locked, stands for: all of it, or what is of the group or the rule. */
  async endMembers(
    incidentId: Id<'incident'>,
    of: { readonly groupId?: Id<'group'>; readonly ruleId?: Id<'rule'> },
    now: Temporal.Instant,
  ): Promise<void> {
    await this.#session.sql.run(
      `update incident_members set ended_at = $4 where incident_id = $1 and ended_at is null
         and ($2::text is null or exception_group_id = $2) and ($3::text is null or rule_id = $3)`,
      [incidentId, of.groupId ?? null, of.ruleId ?? null, now.toString()],
    );
  }

  async hasOpenMembers(incidentId: Id<'incident'>): Promise<boolean> {
    const row = await this.#session.sql.row(
      'select 1 from incident_members where incident_id = $1 and ended_at is null limit 1',
      [incidentId],
    );
    return row !== null;
  }
}
