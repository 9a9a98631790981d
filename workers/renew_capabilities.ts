import { renewCapability } from '#actions/services/renew_capability.ts';
import { recordSystemChange } from '#actions/system_change.ts';
import { inUnitOfWork, type UnitOfWorkRuntime } from '#actions/unit_of_work.ts';
import { toTimestamp } from '#kernel/time.ts';
import { storesOf } from '#storage/postgres/stores.ts';

const BATCH = 500;

/** Opens the next period of every enabled capability whose period has ended; each service in a transaction of its own. */
export async function renewCapabilities(runtime: UnitOfWorkRuntime): Promise<void> {
  const due = await storesOf(runtime.db.session()).capabilities.listDueRenewals(runtime.clock.now(), BATCH);
  for (const { orgId, serviceId, capability } of due) {
    await inUnitOfWork(runtime, async (unit) => {
      const { stores, now } = unit;
      const service = await stores.services.findLocked(orgId, serviceId);
      if (service === null) return;
      const before = await stores.capabilities.find(serviceId, capability);
      const after = await renewCapability(stores.capabilities, service, capability, now);
      if (before === null || after === null || before.billedUntil.equals(after.billedUntil)) return;
      await recordSystemChange(unit, {
        orgId,
        action: 'renew_capability',
        via: 'system',
        target: serviceId,
        before: { capability, billedUntil: toTimestamp(before.billedUntil) },
        after: { capability, billedUntil: toTimestamp(after.billedUntil) },
      });
    });
  }
}
