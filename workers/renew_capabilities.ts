import pLimit from 'p-limit';

import { renewCapability } from '#modules/capabilities/renew_capability.ts';
import { waitForAll } from '#kernel/promises.ts';
import { toTimestamp } from '#kernel/time.ts';
import type { DueRenewal } from '#modules/capabilities/store.ts';
import { inUnitOfWork, storesOf, type UnitOfWorkRuntime } from '#modules/stores.ts';
import { recordSystemChange } from '#modules/audit/system_change.ts';

const BATCH = 500;
const CONCURRENCY = 4;

/**
 * Opens the next period of every enabled capability whose period has ended, each in its own transaction: one that fails
 * does not stop the others, and stays due.
 */
export async function renewCapabilities(runtime: UnitOfWorkRuntime): Promise<void> {
  const { capabilities } = storesOf(runtime.db.session());
  for (;;) {
    const due = await capabilities.listDueRenewals(runtime.clock.now(), BATCH);
    const limit = pLimit(CONCURRENCY);
    await waitForAll(due.map((renewal) => limit(renew, runtime, renewal)));
    if (due.length < BATCH) return;
  }
}

async function renew(runtime: UnitOfWorkRuntime, { orgId, serviceId, capability }: DueRenewal): Promise<void> {
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
