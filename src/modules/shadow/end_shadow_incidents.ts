import { resolve } from '#modules/incidents/change_status.ts';
import { isUnavailable } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import { inUnitOfWork, storesOf, type UnitOfWork, type UnitOfWorkRuntime } from '#modules/stores.ts';

const BATCH = 500;

/**
 * Resolves the open incidents of services whose shadow mode has ended: they page nobody, and what still goes on is to
 * open an incident that does. An incident that fails now delays none of the others, and is tried again.
 */
export async function endShadowIncidents(runtime: UnitOfWorkRuntime & { readonly log: Log }): Promise<void> {
  const { shadow } = storesOf(runtime.db.session());
  for (const incidentId of await shadow.listLeft(BATCH)) {
    try {
      await inUnitOfWork(runtime, (unit) => end(unit, incidentId));
    } catch (error) {
      if (isUnavailable(error)) throw error;
      runtime.log.error({ incidentId, err: error }, 'failed to resolve an incident that was opened in shadow mode');
    }
  }
}

async function end(unit: UnitOfWork, incidentId: Id<'incident'>): Promise<void> {
  const { incidents, shadow } = unit.stores;
  const incident = await incidents.lock(incidentId);
  if (incident === null || (await shadow.findServices([incident.serviceId])).has(incident.serviceId)) return;
  await resolve(unit, incident, { system: true, via: 'rule', because: 'shadow_ended' });
}
