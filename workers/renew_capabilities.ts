import { renewCapability } from '#actions/services/renew_capability.ts';
import { inUnitOfWork, type UnitOfWorkRuntime } from '#actions/unit_of_work.ts';
import { storesOf } from '#storage/postgres/stores.ts';

const BATCH = 500;

/** Opens the next period of every enabled capability whose period has ended; each service in a transaction of its own. */
export async function renewCapabilities(runtime: UnitOfWorkRuntime): Promise<void> {
  const due = await storesOf(runtime.db.session()).capabilities.listDueRenewals(runtime.clock.now(), BATCH);
  for (const { orgId, serviceId, capability } of due) {
    await inUnitOfWork(runtime, async ({ stores, now }) => {
      const service = await stores.services.findLocked(orgId, serviceId);
      if (service !== null) await renewCapability(stores.capabilities, service, capability, now);
    });
  }
}
