import { filterOf, NO_SETTINGS } from '#modules/exceptions/decide/inbound_filters.ts';
import { withoutFields } from '#modules/exceptions/decide/secret_fields.ts';
import { excessOf, limitOf } from '#modules/exceptions/decide/spike.ts';
import type { ArrivedEvent } from '#ingest/packing/pack_events.ts';
import type { Id } from '#kernel/ids.ts';
import type { Database } from '#storage/postgres/database.ts';
import type { StoredExceptionSettings } from '#modules/exceptions/store/exception_settings_store.ts';
import type { SeenGroup } from '#modules/exceptions/store/group_occurrences.ts';
import { refusalHour } from '#modules/services/store/ingest_counts.ts';
import { storesOf, type UnitOfWork } from '#modules/stores.ts';

export type ServiceRules = ReadonlyMap<Id<'service'>, StoredExceptionSettings>;

export interface LeftOut {
  readonly serviceId: Id<'service'>;
  /** Reason, such as `filter:bots`. */
  readonly reason: string;
}

/** Finds the filter rules and secret fields of the services of these events. */
export async function findServiceRules(
  db: Database,
  events: readonly Pick<ArrivedEvent, 'serviceId'>[],
): Promise<ServiceRules> {
  if (events.length === 0) return new Map();
  const serviceIds = [...new Set(events.map(({ serviceId }) => serviceId))];
  return await storesOf(db.session()).exceptionSettings.find(serviceIds);
}

/** Returns the events without those that their services filter, and without the fields that these mark as secret. */
export function applyServiceRules(
  rules: ServiceRules,
  arrived: readonly ArrivedEvent[],
): { readonly events: readonly ArrivedEvent[]; readonly filtered: readonly LeftOut[] } {
  if (rules.size === 0) return { events: arrived, filtered: [] };
  const filtered: LeftOut[] = [];
  const events = arrived.flatMap((event): ArrivedEvent[] => {
    const settings = rules.get(event.serviceId) ?? NO_SETTINGS;
    const filter = filterOf(event.event, settings);
    if (filter === null) return [{ ...event, event: withoutFields(event.event, settings.secretNames) }];
    filtered.push({ serviceId: event.serviceId, reason: `filter:${filter}` });
    return [];
  });
  return { events, filtered };
}

/** The ingest status shows how many events were left out, and why. */
export async function recordLeftOut({ stores, now }: UnitOfWork, leftOut: readonly LeftOut[]): Promise<void> {
  const hour = refusalHour(now);
  const counts = Map.groupBy(leftOut, ({ serviceId, reason }) => `${serviceId} ${reason}`);
  await stores.sentItems.add(
    [...counts.values()].flatMap((alike) =>
      alike
        .slice(0, 1)
        .map(({ serviceId, reason }) => ({ serviceId, kind: 'event', reason, hour, count: alike.length, lastAt: now })),
    ),
  );
}

/**
 * The groups of events that are stored: of a service that has had enough of them within this hour, only those that are new
 * or have come back. The others still count as seen, so no group is missed.
 */
export async function withoutSpike(
  unit: UnitOfWork,
  rules: ServiceRules,
  groups: readonly (SeenGroup | null)[],
): Promise<readonly (SeenGroup | null)[]> {
  const kept = [...groups];
  for (const [serviceId, settings] of rules) {
    const limit = limitOf(settings);
    if (limit === null) continue;
    const ofService = groups.flatMap((group, index) => (group?.serviceId === serviceId ? [{ group, index }] : []));
    if (ofService.length === 0) continue;
    const total = await unit.stores.exceptionSettings.countHour(serviceId, refusalHour(unit.now), ofService.length);
    const knownGroups = ofService.filter(({ group }) => group.outcome === 'known');
    const dropped = knownGroups.slice(knownGroups.length - excessOf(knownGroups.length, total, limit));
    for (const { index } of dropped) kept[index] = null;
    await recordLeftOut(
      unit,
      dropped.map(() => ({ serviceId, reason: 'spike' })),
    );
  }
  return kept;
}
