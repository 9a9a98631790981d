import type { AlertRoute } from '#modules/alerts/decide/route.ts';
import type { EscalationStep } from '#modules/policies/decide/escalation.ts';
import { areSteps, readSteps } from '#modules/policies/decide/stored_steps.ts';
import { type Id, newId } from '#kernel/ids.ts';
import type { Temporal } from '#kernel/time.ts';
import { anyOf, columns, PostgresStore, type Row, toColumns } from '#storage/postgres/store.ts';
import { AlertRouteEntity } from '#storage/postgres/entities/alerts.ts';

const ROUTE = ['conditions', 'outcome', 'policyId', 'pagesOnRise'] as const;

export type AlertRouteRow = Pick<Row<typeof AlertRouteEntity>, (typeof ROUTE)[number]>;

/** A policy, as an incident takes it over. */
export interface RoutePolicy {
  readonly id: Id<'policy'>;
  readonly teamId: Id<'team'>;
  readonly steps: readonly EscalationStep[];
  /** The steps stand in for those that cannot be read. */
  readonly isPolicyUnreadable?: true;
}

/** Route of a service that has none yet: every alert opens an incident and, without a policy, pages nobody. */
const LAST_ROUTE: AlertRouteRow = { conditions: [], outcome: 'page', policyId: null, pagesOnRise: false };

/** Routes of the alerts of services. A service has routes from the first change on; the last one takes the rest. */
export class AlertRouteStore extends PostgresStore {
  /** Lists the routes in order; the last one has no conditions. */
  async list(serviceId: Id<'service'>): Promise<AlertRouteRow[]> {
    const routes = await this.selectFrom('alert_routes as r')
      .select(columns(AlertRouteEntity, 'r', ROUTE))
      .where('r.service_id', '=', serviceId)
      .orderBy('r.position')
      .execute();
    return routes.at(-1)?.conditions.length === 0 ? routes : [...routes, LAST_ROUTE];
  }

  /** Sets all routes of the service; the caller holds the lock on it. */
  async replace(
    service: { readonly orgId: Id<'org'>; readonly id: Id<'service'> },
    routes: readonly AlertRoute<Id<'policy'>>[],
    now: Temporal.Instant,
  ): Promise<void> {
    const { db } = this;
    await db.deleteFrom('alert_routes').where('service_id', '=', service.id).execute();
    if (routes.length === 0) return;
    const rows = routes.map(({ conditions, outcome, policyId, pagesOnRise }, position) => {
      const of = { id: newId('alertroute'), orgId: service.orgId, serviceId: service.id };
      const stamps = { createdAt: now, updatedAt: now };
      return toColumns(AlertRouteEntity, { ...of, position, conditions, outcome, policyId, pagesOnRise, ...stamps });
    });
    await db.insertInto('alert_routes').values(rows).execute();
  }

  /** The policies by which routes page, by id. */
  async findPolicies(orgId: Id<'org'>, ids: readonly Id<'policy'>[]): Promise<Map<Id<'policy'>, RoutePolicy>> {
    if (ids.length === 0) return new Map();
    const policies = await this.selectFrom('escalation_policies')
      .select(['id', 'team_id', 'steps'])
      .where('org_id', '=', orgId)
      .where('id', '=', anyOf(ids))
      .execute();
    return new Map(
      policies.map(({ id, team_id: teamId, steps }) => [
        id,
        areSteps(steps) ? { id, teamId, steps } : { id, teamId, steps: readSteps(steps), isPolicyUnreadable: true },
      ]),
    );
  }
}
