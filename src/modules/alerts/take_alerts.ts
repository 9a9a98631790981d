import type { AlertEvent } from '#modules/alerts/decide/alert_event.ts';
import { type AlertChange, applyEvent, newFacts } from '#modules/alerts/decide/alert_change.ts';
import type { IncidentOfAlert } from '#modules/alerts/decide/decide_alert.ts';
import { repeatsAlerts, sourceSettingsOf } from '#modules/alerts/decide/source_settings.ts';
import type { AlertOutcome, AlertOwner, SentAlert } from '#modules/alerts/decide/sent_alert.ts';
import { toolOf } from '#modules/alerts/decide/tools.ts';
import type { IncidentLimit } from '#modules/incidents/decide/incident_limit.ts';
import { applyEffects } from '#modules/alerts/apply_effects.ts';
import type { Affected, AlertQueue, KnownSource } from '#modules/alerts/alert_queue.ts';
import { AppError } from '#kernel/errors.ts';
import { newId } from '#kernel/ids.ts';
import type { AlertRow } from '#modules/alerts/store/alert_store.ts';
import type { SourceName } from '#modules/alerts/store/alert_source_store.ts';
import { inUnitOfWork, type UnitOfWork, type UnitOfWorkRuntime } from '#modules/unit_of_work.ts';

export interface AlertRuntime extends UnitOfWorkRuntime {
  readonly incidentLimit: IncidentLimit;
}

/**
 * Does what events of one service mean, in one transaction; returns once all of it is stored. The same events again, from
 * this process or another, change nothing more. The outcomes are in the order given.
 */
export async function takeAlerts(
  runtime: AlertRuntime,
  owner: AlertOwner,
  sent: readonly SentAlert[],
): Promise<AlertOutcome[]> {
  return await inUnitOfWork(runtime, (unit) => take(unit, owner, sent, runtime.incidentLimit));
}

async function take(
  unit: UnitOfWork,
  owner: AlertOwner,
  sent: readonly SentAlert[],
  limit: IncidentLimit,
): Promise<AlertOutcome[]> {
  const { stores, now } = unit;
  await stores.alerts.hold(owner.serviceId);
  if ((await stores.services.listGone([owner.serviceId])).length > 0) {
    throw new AppError('unauthenticated', 'the service of this alert key was deleted');
  }
  const sources = await findSources(unit, owner, sent);
  const queues = await openQueues(unit, owner, sent, sources);
  const effects: AlertChange['effect'][] = sent.map(() => 'nothing');
  for (let left = queues; left.length > 0; left = left.filter(({ events }) => events.length > 0)) {
    const incidents = await readIncidents(unit, owner, left);
    const affected = left.flatMap((queue) => advance(queue, incidents, effects, unit));
    await save(unit, left);
    await applyEffects(unit, owner, affected, limit);
  }
  await save(unit, queues);
  const changes = [...sources.values()].map(({ row: { id }, accepted, repetition }) => ({ id, accepted, repetition }));
  await stores.alertSources.noteAlerts(changes, now);
  const outcomes = new Map(
    queues.flatMap(({ places, row, isKnown }) => places.map((place) => [place, isKnown ? row : null] as const)),
  );
  return effects.map((effect, place) => {
    const row = outcomes.get(place) ?? null;
    return { alertId: row?.id ?? null, incidentId: row?.incidentId ?? null, effect };
  });
}

async function findSources(
  { stores, now }: UnitOfWork,
  owner: AlertOwner,
  sent: readonly SentAlert[],
): Promise<Map<string, KnownSource>> {
  const sources = new Map<string, KnownSource>();
  for (const { source } of sent) {
    const name = sourceKey(source);
    if (sources.has(name)) continue;
    const row = await stores.alertSources.findOrCreate(owner, source, now);
    sources.set(name, {
      row,
      settings: sourceSettingsOf(row.settings),
      learns: repeatsAlerts(source.protocol),
      repetition: { longest: row.longestGapSeconds, shortest: row.shortestGapSeconds },
      accepted: 0,
    });
  }
  return sources;
}

function sourceKey({ protocol, name }: SourceName): string {
  return `${protocol} ${name}`;
}

/** The events by their alert, in the order in which each alert came first. */
async function openQueues(
  { stores, now }: UnitOfWork,
  owner: AlertOwner,
  sent: readonly SentAlert[],
  sources: ReadonlyMap<string, KnownSource>,
): Promise<AlertQueue[]> {
  const byName = new Map<string, { source: KnownSource; events: AlertQueue['events'] }>();
  for (const [place, { source: name, event }] of sent.entries()) {
    const source = sources.get(sourceKey(name));
    if (source === undefined) throw new Error('every source was found');
    source.accepted += 1;
    const alert = nameOf({ sourceId: source.row.id, ...event });
    const queue = byName.get(alert) ?? { source, events: [] };
    queue.events.push({ event, place });
    byName.set(alert, queue);
  }
  const names = [...byName.values()].flatMap(({ source, events: [first] }) =>
    first === undefined ? [] : [{ sourceId: source.row.id, scope: first.event.scope, key: first.event.key }],
  );
  const alertsByName = new Map((await stores.alerts.findAll(names)).map((row) => [nameOf(row), row]));
  return [...byName].flatMap(([name, { source, events }]) => {
    const [first] = events;
    if (first === undefined) return [];
    const row = alertsByName.get(name) ?? newRow(owner, source, first.event, now);
    return [
      {
        source,
        row,
        events,
        places: events.map(({ place }) => place),
        isKnown: alertsByName.has(name),
        isChanged: false,
      },
    ];
  });
}

function nameOf({ sourceId, scope, key }: { sourceId: string; scope: string; key: string }): string {
  return JSON.stringify([sourceId, scope, key]);
}

function newRow(
  owner: AlertOwner,
  { row: source }: KnownSource,
  event: AlertEvent,
  now: AlertRow['lastSeenAt'],
): AlertRow {
  return {
    id: newId('alert'),
    orgId: owner.orgId,
    serviceId: owner.serviceId,
    sourceId: source.id,
    scope: event.scope,
    key: event.key,
    isDropped: false,
    incidentId: null,
    ...newFacts(event, toolOf(source.protocol, source.name), now),
    details: {},
  };
}

async function readIncidents(
  { stores }: UnitOfWork,
  { orgId }: AlertOwner,
  queues: readonly AlertQueue[],
): Promise<ReadonlyMap<string, IncidentOfAlert>> {
  const ids = new Set(queues.flatMap(({ row: { incidentId } }) => (incidentId === null ? [] : [incidentId])));
  if (ids.size === 0) return new Map();
  const incidents = await stores.incidents.findAll(orgId, [...ids]);
  return new Map(
    [...incidents].map(([id, { status, resolvedAt }]) => [
      id,
      { status, resolvedAt: resolvedAt?.epochMilliseconds ?? null },
    ]),
  );
}

/** Takes events of one alert up to the first that changes an incident; what follows depends on what becomes of that. */
function advance(
  queue: AlertQueue,
  incidents: ReadonlyMap<string, IncidentOfAlert>,
  effects: AlertChange['effect'][],
  { now }: UnitOfWork,
): Affected[] {
  const { source } = queue;
  let counted = 0;
  let roseFrom: string | null = null;
  let isHeardAgain = false;
  const notes: string[] = [];
  for (;;) {
    const next = queue.events.shift();
    if (next === undefined) break;
    const { event, place } = next;
    const incident = queue.row.incidentId === null ? null : (incidents.get(queue.row.incidentId) ?? null);
    const change = applyEvent(queue.row, incident, event, source, now);
    if (event.note !== null) notes.push(event.note);
    if (change === null) continue;
    effects[place] = change.effect;
    source.repetition = change.repetition;
    queue.row = { ...queue.row, ...change.facts, details: { ...change.facts.details } };
    queue.isChanged = true;
    queue.isKnown = true;
    roseFrom ??= change.roseFrom;
    isHeardAgain ||= change.isHeardAgain;
    if (change.effect === 'count') counted += 1;
    else if (change.effect !== 'nothing') {
      const replaced = change.effect === 'replace' ? queue.row.incidentId : null;
      return [{ queue, effect: change.effect, replaced, counted, roseFrom, isHeardAgain, notes }];
    }
  }
  if (counted === 0 && !isHeardAgain && roseFrom === null && notes.length === 0) return [];
  return [{ queue, effect: 'count', replaced: null, counted, roseFrom, isHeardAgain, notes }];
}

async function save({ stores }: UnitOfWork, queues: readonly AlertQueue[]): Promise<void> {
  const changed = queues.filter(({ isChanged }) => isChanged);
  await stores.alerts.saveAll(changed.map(({ row }) => row));
  for (const queue of changed) queue.isChanged = false;
}
