import type { IncidentStatus, IncidentActor } from '#core/incidents/incident.ts';
import type { RuleKind } from '#core/incidents/rule_kinds.ts';
import type { StepTimerRow } from '#core/incidents/step_records.ts';
import type { EscalationStep, PlannedStep } from '#core/oncall/escalation.ts';
import { notFound } from '#kernel/errors.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';
import { isUniqueViolation } from '#storage/postgres/faults.ts';

/** An incident as stored. `details` says what was measured, `steps` is the policy as it was at the trigger. */
export interface IncidentRow {
  readonly id: Id<'incident'>;
  /** What a person types in a reply. */
  readonly number: number;
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
  readonly serviceName: string;
  readonly ruleId: Id<'rule'> | null;
  readonly exceptionGroupId: Id<'group'> | null;
  readonly escalationPolicyId: Id<'policy'> | null;
  readonly teamId: Id<'team'> | null;
  readonly kind: RuleKind;
  readonly title: string;
  readonly severity: string;
  readonly details: Record<string, unknown>;
  readonly occurrences: number;
  readonly steps: readonly EscalationStep[];
  readonly status: IncidentStatus;
  readonly triggeredAt: Temporal.Instant;
  readonly acknowledgedAt: Temporal.Instant | null;
  readonly acknowledgedBy: IncidentActor | null;
  readonly resolvedAt: Temporal.Instant | null;
  readonly resolvedBy: IncidentActor | null;
  readonly clearSince: Temporal.Instant | null;
  readonly createdAt: Temporal.Instant;
  readonly updatedAt: Temporal.Instant;
}

export interface NewIncident {
  readonly orgId: Id<'org'>;
  readonly serviceId: Id<'service'>;
  readonly ruleId: Id<'rule'>;
  readonly exceptionGroupId: Id<'group'> | null;
  readonly escalationPolicyId: Id<'policy'> | null;
  readonly teamId: Id<'team'> | null;
  readonly kind: RuleKind;
  /** One open incident per key. */
  readonly dedupKey: string;
  readonly title: string;
  readonly severity: string;
  readonly details: object;
  readonly steps: readonly EscalationStep[];
}

/** A timer whose time has come. */
export interface DueStep {
  readonly orgId: Id<'org'>;
  readonly incidentId: Id<'incident'>;
  readonly stepIndex: number;
}

/** What changes in the memory of a metric rule's incident. */
interface ClearChange {
  readonly incidentId: Id<'incident'>;
  readonly ruleId: Id<'rule'>;
  /** Whether it is that of a storm, which remembers it of each rule that it stands for. */
  readonly isMember: boolean;
  readonly before: Temporal.Instant | null;
  readonly since: Temporal.Instant | null;
}

export interface TimelineRow {
  readonly at: Temporal.Instant;
  readonly event: string;
  readonly data: Record<string, unknown>;
}

const COLUMNS = `i.id, i.number, i.org_id as "orgId", i.service_id as "serviceId", s.name as "serviceName",
  i.rule_id as "ruleId", i.exception_group_id as "exceptionGroupId", i.escalation_policy_id as "escalationPolicyId",
  i.team_id as "teamId", i.kind, i.title, i.severity, i.details, i.occurrences, i.steps, i.status,
  i.triggered_at as "triggeredAt", i.acknowledged_at as "acknowledgedAt", i.acknowledged_by as "acknowledgedBy",
  i.resolved_at as "resolvedAt", i.resolved_by as "resolvedBy", i.clear_since as "clearSince",
  i.created_at as "createdAt", i.updated_at as "updatedAt"`;

const FROM = 'from incidents i join services s on s.id = i.service_id and s.deleted_at is null';

/** Resolved incidents are kept for as many times 24 hours as their service says; open ones always. */
const OUTDATED = (now: string): string =>
  `i.status = 'resolved' and i.resolved_at < ${now}::timestamptz - make_interval(hours => 24 * s.retention_oncall)`;

const keptAt = (now: string): string => `not (${OUTDATED(now)})`;

/** Incidents, their timers and what happened to them. Whoever changes an incident locks its row first. */
export class IncidentStore {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /**
   * Opens an incident with its timers, unless one with the same key is open already: then null, and the open one
   * counts one more occurrence.
   */
  async open(
    incident: NewIncident,
    timers: readonly PlannedStep[],
    now: Temporal.Instant,
  ): Promise<Id<'incident'> | null> {
    const id = newId('incident');
    const at = now.toString();
    const inserted = await this.#session.sql.run(
      `insert into incidents (id, org_id, service_id, rule_id, exception_group_id, escalation_policy_id, team_id, kind,
         dedup_key, title, severity, details, steps, triggered_at, counted_at, created_at, updated_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $14, $14, $14)
       on conflict (dedup_key) where status <> 'resolved' do nothing`,
      [
        id,
        incident.orgId,
        incident.serviceId,
        incident.ruleId,
        incident.exceptionGroupId,
        incident.escalationPolicyId,
        incident.teamId,
        incident.kind,
        incident.dedupKey,
        incident.title,
        incident.severity,
        JSON.stringify(incident.details),
        JSON.stringify(incident.steps),
        at,
      ],
    );
    if (inserted === 0) {
      await this.#session.sql.run(
        `update incidents set occurrences = occurrences + 1, counted_at = $2, clear_since = null, updated_at = $2
         where dedup_key = $1 and status <> 'resolved'`,
        [incident.dedupKey, at],
      );
      return null;
    }
    await this.#session.sql.run(
      `insert into incident_steps (incident_id, step_index, due_at)
       select $1, (t->>'stepIndex')::int, (t->>'dueAt')::timestamptz from json_array_elements($2::json) t`,
      [id, JSON.stringify(timers.map(({ stepIndex, dueAt }) => ({ stepIndex, dueAt: dueAt.toString() })))],
    );
    return id;
  }

  async find(orgId: Id<'org'>, incidentId: string): Promise<IncidentRow | null> {
    return await this.#session.sql.row(`select ${COLUMNS} ${FROM} where i.org_id = $1 and i.id = $2`, [
      orgId,
      incidentId,
    ]);
  }

  /** Throws `not_found`, also for one that is older than its service keeps. */
  async get(orgId: Id<'org'>, incidentId: string, now: Temporal.Instant): Promise<IncidentRow> {
    const incident = await this.#session.sql.row<IncidentRow>(
      `select ${COLUMNS} ${FROM} where i.org_id = $1 and i.id = $2 and ${keptAt('$3')}`,
      [orgId, incidentId, now.toString()],
    );
    if (incident === null) throw notFound('incidentId', 'incident');
    return incident;
  }

  /** The row, locked until the transaction ends; null when it is gone. */
  async lock(incidentId: string): Promise<IncidentRow | null> {
    return (await this.lockAll([incidentId])).get(incidentId) ?? null;
  }

  /** The rows that are not gone, by id, locked one after another in the order of their ids. */
  async lockAll(incidentIds: readonly string[]): Promise<Map<string, IncidentRow>> {
    const rows = await this.#session.sql.rows<IncidentRow>(
      `select ${COLUMNS} ${FROM} where i.id = any($1) order by i.id for update of i`,
      [incidentIds],
    );
    return new Map(rows.map((incident) => [incident.id, incident]));
  }

  /** Those of the organization's incidents that are not gone, by id. */
  async findAll(orgId: Id<'org'>, incidentIds: readonly string[]): Promise<Map<string, IncidentRow>> {
    const rows = await this.#session.sql.rows<IncidentRow>(
      `select ${COLUMNS} ${FROM} where i.org_id = $1 and i.id = any($2)`,
      [orgId, incidentIds],
    );
    return new Map(rows.map((incident) => [incident.id, incident]));
  }

  /** Those that are open because of an exception group, locked until the transaction ends. */
  async lockOpenOf(groupId: Id<'group'>): Promise<IncidentRow[]> {
    return await this.#session.sql.rows(
      `select ${COLUMNS} ${FROM} where i.exception_group_id = $1 and i.status <> 'resolved' order by i.id for update of i`,
      [groupId],
    );
  }

  /** Newest first; resolved ones only within the retention of their service. */
  async list(
    orgId: Id<'org'>,
    filter: { readonly serviceId?: string | undefined; readonly status?: IncidentStatus | undefined },
    now: Temporal.Instant,
    limit: number,
  ): Promise<IncidentRow[]> {
    return await this.#session.sql.rows(
      `select ${COLUMNS} ${FROM}
       where i.org_id = $1 and ($2::text is null or i.service_id = $2) and ($3::text is null or i.status = $3)
         and ${keptAt('$4')}
       order by i.triggered_at desc, i.id desc limit $5`,
      [orgId, filter.serviceId ?? null, filter.status ?? null, now.toString(), limit],
    );
  }

  /**
   * Removes up to `limit` resolved incidents that are older than their service keeps, with all that was logged of
   * them; returns how many. One that is being looked at is left for the next time.
   */
  async removeOutdated(now: Temporal.Instant, limit: number): Promise<number> {
    return await this.#session.sql.run(
      `delete from incidents where id in (
         select outdated.id from services s cross join lateral (
           select i.id from incidents i where i.service_id = s.id and ${OUTDATED('$1')} limit $2
           for update skip locked
         ) as outdated limit $2)`,
      [now.toString(), limit],
    );
  }

  async acknowledge(incidentId: Id<'incident'>, by: IncidentActor, now: Temporal.Instant): Promise<void> {
    await this.#session.sql.run(
      `update incidents set status = 'acknowledged', acknowledged_at = $2, acknowledged_by = $3, updated_at = $2
       where id = $1`,
      [incidentId, now.toString(), JSON.stringify(by)],
    );
  }

  async resolve(incidentId: Id<'incident'>, by: IncidentActor, now: Temporal.Instant): Promise<void> {
    await this.#session.sql.run(
      `update incidents set status = 'resolved', resolved_at = $2, resolved_by = $3, updated_at = $2 where id = $1`,
      [incidentId, now.toString(), JSON.stringify(by)],
    );
  }

  /**
   * The incident is open again, or waits for somebody again. Since when its condition is false counts from anew after
   * it was resolved: nobody has looked meanwhile. False when another one is open for the same cause.
   */
  async reopen(incidentId: Id<'incident'>, to: 'triggered' | 'acknowledged', now: Temporal.Instant): Promise<boolean> {
    const answered = to === 'triggered' ? ', acknowledged_at = null, acknowledged_by = null' : '';
    try {
      const reopened = await this.#session.sql.run(
        `update incidents i set status = $2, resolved_at = null, resolved_by = null, updated_at = $3,
           clear_since = case when status = 'resolved' then null else clear_since end ${answered}
         where id = $1 and not exists (
           select 1 from incidents o where o.dedup_key = i.dedup_key and o.status <> 'resolved' and o.id <> i.id)`,
        [incidentId, to, now.toString()],
      );
      return reopened > 0;
    } catch (error) {
      // One that was opened at this very moment: the transaction is lost with it.
      if (isUniqueViolation(error, 'incidents_open')) return false;
      throw error;
    }
  }

  /**
   * Notes since when the conditions of metric rules have been false, null for true, where that is still as it was
   * `before`.
   */
  async setClearSince(changes: readonly ClearChange[]): Promise<void> {
    if (changes.length === 0) return;
    const [members, own] = [true, false].map((isMember) => changes.filter((change) => change.isMember === isMember));
    await this.#session.sql.run(
      `with own as (
         update incidents i set clear_since = (c->>'since')::timestamptz from json_array_elements($1::json) c
         where i.id = c->>'incidentId' and i.status <> 'resolved'
           and i.clear_since is not distinct from (c->>'before')::timestamptz)
       update incident_members m set clear_since = (c->>'since')::timestamptz from json_array_elements($2::json) c
       where m.incident_id = c->>'incidentId' and m.rule_id = c->>'ruleId' and m.ended_at is null
         and m.clear_since is not distinct from (c->>'before')::timestamptz`,
      [JSON.stringify(own), JSON.stringify(members)],
    );
  }

  async listSteps(incidentIds: readonly string[]): Promise<(StepTimerRow & { incidentId: Id<'incident'> })[]> {
    return await this.#session.sql.rows(
      `select incident_id as "incidentId", step_index as "stepIndex", due_at as "dueAt", state,
         settled_at as "settledAt", reason
       from incident_steps where incident_id = any($1) order by incident_id, step_index`,
      [incidentIds],
    );
  }

  /** Takes a due timer for good: of all who try, one gets true, and the step is theirs to run. */
  async claimStep(incidentId: Id<'incident'>, stepIndex: number, now: Temporal.Instant): Promise<boolean> {
    const claimed = await this.#session.sql.run(
      `update incident_steps set state = 'fired', settled_at = $3
       where incident_id = $1 and step_index = $2 and state = 'pending' and due_at <= $3`,
      [incidentId, stepIndex, now.toString()],
    );
    return claimed > 0;
  }

  /** When a timer that has not fired yet is due; null when it has, or was cancelled. */
  async findPendingDueAt(incidentId: Id<'incident'>, stepIndex: number): Promise<Temporal.Instant | null> {
    const timer = await this.#session.sql.row<{ dueAt: Temporal.Instant }>(
      `select due_at as "dueAt" from incident_steps where incident_id = $1 and step_index = $2 and state = 'pending'`,
      [incidentId, stepIndex],
    );
    return timer?.dueAt ?? null;
  }

  async markSkipped(incidentId: Id<'incident'>, stepIndex: number, reason: string): Promise<void> {
    await this.#session.sql.run(
      `update incident_steps set state = 'skipped', reason = $3 where incident_id = $1 and step_index = $2`,
      [incidentId, stepIndex, reason],
    );
  }

  /** Brings a timer that is still pending forward to `now`; true when there was one. */
  async expediteStep(incidentId: Id<'incident'>, stepIndex: number, now: Temporal.Instant): Promise<boolean> {
    const changed = await this.#session.sql.run(
      `update incident_steps set due_at = least(due_at, $3::timestamptz)
       where incident_id = $1 and step_index = $2 and state = 'pending'`,
      [incidentId, stepIndex, now.toString()],
    );
    return changed > 0;
  }

  async cancelSteps(incidentId: Id<'incident'>, reason: string, now: Temporal.Instant): Promise<void> {
    await this.#session.sql.run(
      `update incident_steps set state = 'cancelled', settled_at = $3, reason = $2
       where incident_id = $1 and state = 'pending'`,
      [incidentId, reason, now.toString()],
    );
  }

  /** Timers that were cancelled wait again, each until then. */
  async resumeSteps(incidentId: Id<'incident'>, timers: readonly PlannedStep[]): Promise<void> {
    await this.#session.sql.run(
      `update incident_steps t set state = 'pending', due_at = (r->>'dueAt')::timestamptz, settled_at = null,
         reason = null
       from json_array_elements($2::json) r
       where t.incident_id = $1 and t.step_index = (r->>'stepIndex')::int and t.state = 'cancelled'`,
      [incidentId, JSON.stringify(timers.map(({ stepIndex, dueAt }) => ({ stepIndex, dueAt: dueAt.toString() })))],
    );
  }

  /**
   * Sets timers of incidents that were triggered later than now, which the clock has been set back since, so that none
   * waits for longer than its step says. Doing it again changes nothing.
   */
  async bringTimersBack(now: Temporal.Instant): Promise<void> {
    await this.#session.sql.run(
      `update incident_steps t set due_at = $1::timestamptz + make_interval(secs => w.seconds)
       from incidents i, lateral (select json_array_length(i.steps) as n) l,
         generate_series(0, l.n - 1) k, lateral (select (i.steps->k->>'afterMinutes')::float8 * 60 as seconds) w
       where i.status = 'triggered' and i.triggered_at > $1::timestamptz + interval '1 minute'
         and t.incident_id = i.id and t.step_index = k and t.state = 'pending'
         and extract(epoch from t.due_at - $1::timestamptz) > w.seconds`,
      [now.toString()],
    );
  }

  /** Timers that were due at `before` and have not fired: their job was lost or is late. Organizations have equal turns. */
  async listDueSteps(before: Temporal.Instant, limit: number): Promise<DueStep[]> {
    return await this.#session.sql.rows(
      `select t.incident_id as "incidentId", t.step_index as "stepIndex", i.org_id as "orgId"
       from incident_steps t join incidents i on i.id = t.incident_id
       where t.state = 'pending' and t.due_at <= $1
       order by row_number() over (partition by i.org_id order by t.due_at), t.due_at limit $2`,
      [before.toString(), limit],
    );
  }

  async recordEvent(incidentId: Id<'incident'>, event: string, data: object, now: Temporal.Instant): Promise<void> {
    await this.recordEvents([{ incidentId, event, data }], now);
  }

  /** In the order given; those of incidents that are gone are dropped. */
  async recordEvents(
    events: readonly { readonly incidentId: Id<'incident'>; readonly event: string; readonly data: object }[],
    now: Temporal.Instant,
  ): Promise<void> {
    if (events.length === 0) return;
    await this.#session.sql.run(
      `insert into incident_timeline (incident_id, at, event, data)
       select e->>'incidentId', $2, e->>'event', e->'data' from json_array_elements($1::json) with ordinality _(e, n)
       where exists (select 1 from incidents where id = e->>'incidentId') order by n`,
      [JSON.stringify(events), now.toString()],
    );
  }

  async listTimeline(incidentId: Id<'incident'>): Promise<TimelineRow[]> {
    return await this.#session.sql.rows(
      'select at, event, data from incident_timeline where incident_id = $1 order by id limit 2000',
      [incidentId],
    );
  }
}
