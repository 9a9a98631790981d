import type { IncidentStatus } from '#core/incidents/incident.ts';
import type { Id } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import type { Session } from '#storage/postgres/database.ts';

/** Which of an organization's incidents are meant; what is absent does not matter. */
export interface IncidentFilter {
  readonly serviceId?: string | undefined;
  readonly severity?: string | undefined;
  /** Part of the title, of `#number` or of the service's name, in any case. */
  readonly text?: string | undefined;
  /** Of those that are acknowledged, only the ones that this person has acknowledged. */
  readonly acknowledgedBy?: Id<'user'> | undefined;
  readonly incidentIds?: readonly string[] | undefined;
}

/** A place in the order of a list: open ones by their trigger, resolved ones by when they were resolved. */
export interface IncidentPlace {
  readonly status: IncidentStatus;
  readonly at: Temporal.Instant;
  readonly id: string;
}

/** How many there are of each status. */
export type StatusCounts = Record<IncidentStatus, number>;

/** Open incidents of a service, at least one. */
export interface OpenCounts {
  readonly serviceId: Id<'service'>;
  readonly triggered: number;
  readonly acknowledged: number;
}

/** What a service keeps is computed once a service, not once an incident. $1 is the organization, $2 is now. */
const KEPT = `with kept as materialized (
    select id, name, $2::timestamptz - make_interval(hours => 24 * retention_oncall) as since
    from services where org_id = $1 and deleted_at is null)`;

const FOUND = `incidents i join kept s on s.id = i.service_id and (i.status <> 'resolved' or i.resolved_at >= s.since)
  where i.org_id = $1
    and ($3::text is null or i.service_id = $3) and ($4::text is null or i.severity = $4)
    and ($5::text is null or strpos(lower(i.title || ' #' || i.number || ' ' || s.name), lower($5)) > 0)
    and ($6::text is null or i.status <> 'acknowledged' or i.acknowledged_by->>'userId' = $6)
    and ($7::text[] is null or i.id = any($7))`;

/** Finds and counts incidents, page by page: nothing is out of reach, however many there are. */
export class IncidentSearch {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Of these statuses in the order given, the newest of each first; those behind `after`, at most `limit`. */
  async listPlaces(
    orgId: Id<'org'>,
    filter: IncidentFilter,
    statuses: readonly IncidentStatus[],
    page: { readonly after: IncidentPlace | null; readonly limit: number },
    now: Temporal.Instant,
  ): Promise<IncidentPlace[]> {
    const places: IncidentPlace[] = [];
    const first = page.after === null ? 0 : statuses.indexOf(page.after.status);
    for (const status of statuses.slice(Math.max(0, first))) {
      const left = page.limit - places.length;
      if (left <= 0) break;
      const after = page.after?.status === status ? page.after : null;
      const at = status === 'resolved' ? 'i.resolved_at' : 'i.triggered_at';
      const rows = await this.#session.sql.rows<Omit<IncidentPlace, 'status'>>(
        `${KEPT} select i.id, ${at} as at from ${FOUND} and i.status = '${status}'
           and ($8::timestamptz is null or (${at}, i.id) < ($8, $9))
         order by ${at} desc, i.id desc limit $10`,
        [...parametersOf(orgId, filter, now), after?.at.toString() ?? null, after?.id ?? null, left],
      );
      places.push(...rows.map(({ id, at: since }) => ({ status, at: since, id })));
    }
    return places;
  }

  async countByStatus(orgId: Id<'org'>, filter: IncidentFilter, now: Temporal.Instant): Promise<StatusCounts> {
    const rows = await this.#session.sql.rows<{ status: IncidentStatus; count: number }>(
      `${KEPT} select i.status, count(*) as count from ${FOUND} group by i.status`,
      parametersOf(orgId, filter, now),
    );
    const counts = new Map(rows.map(({ status, count }) => [status, count]));
    const countOf = (status: IncidentStatus) => counts.get(status) ?? 0;
    return {
      triggered: countOf('triggered'),
      acknowledged: countOf('acknowledged'),
      resolved: countOf('resolved'),
    };
  }

  /** A service without any is absent. */
  async countOpenByService(orgId: Id<'org'>): Promise<OpenCounts[]> {
    return await this.#session.sql.rows(
      `select i.service_id as "serviceId", count(*) filter (where i.status = 'triggered') as triggered,
         count(*) filter (where i.status = 'acknowledged') as acknowledged
       from incidents i join services s on s.id = i.service_id and s.deleted_at is null
       where i.org_id = $1 and i.status <> 'resolved' group by i.service_id`,
      [orgId],
    );
  }
}

function parametersOf(orgId: Id<'org'>, filter: IncidentFilter, now: Temporal.Instant): unknown[] {
  const { serviceId, severity, text, acknowledgedBy, incidentIds } = filter;
  return [
    orgId,
    now.toString(),
    serviceId ?? null,
    severity ?? null,
    text ?? null,
    acknowledgedBy ?? null,
    incidentIds ?? null,
  ];
}
