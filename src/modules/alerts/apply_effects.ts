import { nextTurn } from '#kernel/cooperative_task.ts';
import type { Id } from '#kernel/ids.ts';
import { type Affected, type AlertQueue, dedupKeyOfAlert, toolActor } from '#modules/alerts/view.ts';
import { incidentDetails } from '#modules/alerts/decide/alert_change.ts';
import { labelsOfDetails } from '#modules/alerts/decide/alert_event.ts';
import { areConditions, routeOf } from '#modules/alerts/decide/route.ts';
import { endAlerts } from '#modules/alerts/end_alerts.ts';
import type { AlertRouteRow, RoutePolicy } from '#modules/alerts/store/alert_route_store.ts';
import { recordSystemChange } from '#modules/audit/system_change.ts';
import { acknowledge, unacknowledge } from '#modules/incidents/acknowledge.ts';
import { decideSeverity, type IncidentLimit } from '#modules/incidents/decide/incident_limit.ts';
import { openIncidents } from '#modules/incidents/open_incidents.ts';
import type { Firing, Opener } from '#modules/incidents/paging/firing.ts';
import { pageAnew } from '#modules/incidents/paging/schedule_steps.ts';
import type { IncidentRow } from '#modules/incidents/store/incident_store.ts';
import { readPolicies, runOfPolicy } from '#modules/policies/read_run.ts';
import type { UnitOfWork } from '#modules/stores.ts';

/** Notes of one alert in one transaction. */
const NOTES_MAX = 10;

/**
 * Does to incidents what events of alerts mean for them: what ends comes first, so that the same key may open again. Alerts
 * that open were routed before.
 */
export async function applyEffects(
  unit: UnitOfWork,
  affected: readonly Affected[],
  opening: readonly RoutedAlert[],
  limit: IncidentLimit,
): Promise<void> {
  const of = (...effects: Affected['effect'][]) => affected.filter(({ effect }) => effects.includes(effect));
  await endAlerts(
    unit,
    of('resolve', 'replace').map(({ queue, replaced }) => ({ ...queue, replaced })),
    toolActor,
    new Set(opening.map(({ queue }) => dedupKeyOfAlert(queue))),
  );
  await openAlerts(unit, opening, limit);
  await answer(unit, of('acknowledge', 'open_acknowledged'), 'acknowledge');
  await answer(unit, of('unacknowledge'), 'unacknowledge');
  await count(unit, affected);
  for (const alert of affected) await recordNews(unit, alert);
}

/** Acknowledges incidents, or takes that back, in the name of the tool. A storm stands for others as well and stays. */
async function answer(
  unit: UnitOfWork,
  affected: readonly Affected[],
  how: 'acknowledge' | 'unacknowledge',
): Promise<void> {
  if (affected.length === 0) return;
  const incidentIds = affected.flatMap(({ queue: { row } }) => (row.incidentId === null ? [] : [row.incidentId]));
  const named = await unit.stores.alerts.listIncidentKeys(incidentIds);
  const single = named.filter(({ isStorm }) => !isStorm);
  const locked = await unit.stores.incidents.lockAll(single.map(({ incidentId }) => incidentId));
  for (const { queue } of affected) {
    const incident = locked.get(queue.row.incidentId ?? '');
    if (incident === undefined) continue;
    const by = toolActor(queue.row);
    if (how === 'acknowledge') {
      if (incident.status !== 'triggered') continue;
      await acknowledge(unit, incident, by);
    } else {
      if (incident.status !== 'acknowledged') continue;
      await unacknowledge(unit, incident, by);
      await recordSystemChange(unit, {
        orgId: queue.row.orgId,
        action: 'unacknowledge_incident',
        via: 'alert',
        target: incident.id,
        before: { status: 'acknowledged' },
        after: { status: 'triggered', by: queue.row.tool },
      });
    }
    locked.delete(incident.id);
  }
}

async function count({ stores, now }: UnitOfWork, affected: readonly Affected[]): Promise<void> {
  const counted = affected.filter((change) => change.counted > 0 && change.queue.row.incidentId !== null);
  if (counted.length === 0) return;
  await stores.storms.countOpen([...new Set(counted.map(({ queue }) => dedupKeyOfAlert(queue)))], now);
}

/** Records notes, a word after silence and a raised severity. */
async function recordNews(unit: UnitOfWork, { queue, roseFrom, isHeardAgain, notes }: Affected): Promise<void> {
  const { stores, now } = unit;
  const { incidentId, tool } = queue.row;
  if (incidentId === null) return;
  for (const text of notes.slice(0, NOTES_MAX))
    await stores.timeline.record(incidentId, 'alert_note', { tool, text }, now);
  if (isHeardAgain) await stores.timeline.record(incidentId, 'word_again', { tool }, now);
  if (roseFrom === null) return;
  const incident: IncidentRow | null = await stores.incidents.lock(incidentId);
  if (incident !== null) await raiseSeverity(unit, incident, queue);
}

/** Alerts that join an incident in one transaction and are named in its timeline. */
const JOINED_MAX = 10;
/** Sentence in the timeline of an incident, for the people of its service. */
const PASSED_UNREADABLE = 'a route of this service cannot be read and was passed over: set its conditions again';

/** An alert that opens an incident, or joins one, by the route that takes it. */
export interface RoutedAlert {
  readonly queue: AlertQueue;
  /** Null where no route takes it. */
  readonly route: AlertRouteRow | null;
  /** Whether a route that was passed over could not be read. */
  readonly isUnreadable: boolean;
  readonly policies: ReadonlyMap<Id<'policy'>, RoutePolicy>;
}

/** Finds the routes of the alerts that open something. What a route drops is marked so in its row, and is not returned. */
export async function routeAlerts(unit: UnitOfWork, affected: readonly Affected[]): Promise<RoutedAlert[]> {
  const ofServices = Map.groupBy(affected.filter(isOpening), ({ queue }) => queue.row.serviceId);
  const routed: RoutedAlert[] = [];
  for (const [serviceId, alerts] of ofServices) routed.push(...(await routeOfService(unit, serviceId, alerts)));
  return routed;
}

/** Whether an event opens an incident, unless a route drops the alert. */
export function isOpening({ effect }: Pick<Affected, 'effect'>): boolean {
  return effect === 'open' || effect === 'open_acknowledged' || effect === 'replace';
}

async function routeOfService(
  { stores }: UnitOfWork,
  serviceId: Id<'service'>,
  opening: readonly Affected[],
): Promise<RoutedAlert[]> {
  const routes = await stores.alertRoutes.list(serviceId);
  const orgId = opening[0]?.queue.row.orgId;
  const policies =
    orgId === undefined ? NO_POLICIES : await stores.alertRoutes.findPolicies(orgId, policyIdsOf(routes));
  const routed: RoutedAlert[] = [];
  for (const { queue } of opening) {
    // The patterns of routes are up to who set them: others are served between alerts.
    if (routes.length > 1) await nextTurn();
    const route = routeOf(routes, {
      severity: queue.row.severity,
      protocol: queue.source.row.protocol,
      sourceName: queue.source.row.name,
      details: queue.row.details,
    });
    const isDropped = route?.outcome === 'drop';
    queue.row = { ...queue.row, isDropped, incidentId: null };
    queue.isChanged = true;
    if (isDropped) continue;
    const passed = routes.slice(0, route === null ? routes.length : routes.indexOf(route));
    routed.push({ queue, route, isUnreadable: !passed.every(({ conditions }) => areConditions(conditions)), policies });
  }
  return routed;
}

/** Opens the incidents of alerts by their routes, and says in their rows which these are. */
async function openAlerts(unit: UnitOfWork, opening: readonly RoutedAlert[], limit: IncidentLimit): Promise<void> {
  const ofServices = Map.groupBy(opening, ({ queue }) => queue.row.serviceId);
  // Everybody locks several services in this order.
  const inOrder = [...ofServices].toSorted(([a], [b]) => (a < b ? -1 : 1));
  for (const [, alerts] of inOrder) {
    const firings = new Map<string, Firing>();
    for (const alert of alerts) {
      const key = dedupKeyOfAlert(alert.queue);
      if (!firings.has(key)) firings.set(key, firingOf(alert));
    }
    const before = await openIncidents(unit, [...firings.values()], limit);
    await link(
      unit,
      alerts.map(({ queue }) => queue),
      before,
    );
  }
}

const NO_POLICIES: ReadonlyMap<Id<'policy'>, RoutePolicy> = new Map();

function policyIdsOf(routes: readonly AlertRouteRow[]): Id<'policy'>[] {
  return [...new Set(routes.flatMap(({ policyId }) => (policyId === null ? [] : [policyId])))];
}

function firingOf({ queue, route, isUnreadable, policies }: RoutedAlert): Firing {
  const { row, source } = queue;
  const policy = route?.outcome === 'page' && route.policyId !== null ? policies.get(route.policyId) : undefined;
  const { groupMinutes } = source.settings;
  const rule: Opener = {
    orgId: row.orgId,
    serviceId: row.serviceId,
    ruleId: null,
    name: row.tool,
    settings: groupMinutes === 0 ? null : { groupMinutes },
    escalationPolicyId: policy?.id ?? null,
    teamId: policy?.teamId ?? null,
    steps: policy?.steps ?? [],
    ...(policy?.isPolicyUnreadable && { isPolicyUnreadable: true }),
  };
  return {
    rule,
    cause: {
      kind: 'alert',
      exceptionGroupId: null,
      dedupKey: dedupKeyOfAlert(queue),
      title: row.title,
      severity: row.severity,
      details: incidentDetails(row, { protocol: source.row.protocol, sourceName: source.row.name, key: row.key }),
      labels: labelsOfDetails(row.details),
      sentence: isUnreadable ? `${row.title} (${PASSED_UNREADABLE})` : row.title,
    },
  };
}

/** Says in each row which incident stands for it. One that was open before has a further alert, which may be worse. */
async function link(unit: UnitOfWork, opened: readonly AlertQueue[], before: ReadonlySet<string>): Promise<void> {
  const { stores, now } = unit;
  const standing = await stores.alerts.listStanding(opened.map(dedupKeyOfAlert));
  const byKey = new Map(standing.map((alert) => [alert.dedupKey, alert]));
  const linked = new Set<string>();
  let joined = 0;
  for (const queue of opened) {
    const key = dedupKeyOfAlert(queue);
    const incident = byKey.get(key);
    queue.row = { ...queue.row, incidentId: incident?.incidentId ?? null };
    const isFurther = before.has(key) || linked.has(key);
    linked.add(key);
    if (!isFurther || incident === undefined || incident.isMember) continue;
    const row = await stores.incidents.lock(incident.incidentId);
    if (row !== null) await raiseSeverity(unit, row, queue);
    joined += 1;
    if (joined > JOINED_MAX) continue;
    const { tool, title } = queue.row;
    await stores.timeline.record(incident.incidentId, 'alert_joined', { tool, title }, now);
  }
}

/**
 * Gives an incident, which the caller has locked, the severity of an alert that is worse. If nobody has answered it and
 * the route of the alert says so, its first step pages anew and the others follow.
 */
async function raiseSeverity(
  unit: UnitOfWork,
  incident: IncidentRow,
  { row, source }: Pick<AlertQueue, 'row' | 'source'>,
): Promise<void> {
  const { stores, now } = unit;
  const decision = decideSeverity(incident, row.severity, now);
  if (decision.kind !== 'change' || decision.direction !== 'raised') return;
  await stores.incidentResponse.setSeverity(incident.id, row.severity, now);
  const routes = await stores.alertRoutes.list(incident.serviceId);
  const { protocol, name: sourceName } = source.row;
  const route = routeOf(routes, { severity: row.severity, protocol, sourceName, details: row.details });
  const pages =
    decision.mayPage && route?.pagesOnRise === true && (await pageBy(unit, incident, route.policyId, row.severity));
  const facts = { tool: row.tool, from: incident.severity, to: row.severity, pages };
  await stores.timeline.record(incident.id, 'severity_raised', facts, now);
}

/** Returns false where nobody would be paged. */
async function pageBy(
  unit: UnitOfWork,
  incident: IncidentRow,
  policyId: IncidentRow['escalationPolicyId'],
  severity: string,
): Promise<boolean> {
  const { stores, now } = unit;
  if (policyId === null) return false;
  const policy = (await stores.alertRoutes.findPolicies(incident.orgId, [policyId])).get(policyId);
  if (policy === undefined) return false;
  const findPolicy = await readPolicies(stores, incident.orgId, [policyId]);
  return await pageAnew(
    unit,
    incident,
    runOfPolicy({ ...policy, escalationPolicyId: policyId }, findPolicy, now, severity),
  );
}
