import { type CapabilityState, dueRenewals } from '#modules/capabilities/decide/billing.ts';
import type { Capability } from '#modules/capabilities/decide/capability.ts';
import type { Temporal } from '#kernel/time.ts';
import type { CapabilityStore } from '#modules/capabilities/store.ts';
import type { ServiceRow } from '#modules/services/store/service_store.ts';

/**
 * Charges every period that has begun and is not in the ledger yet; the caller holds the lock on the service. A period
 * that began before the capability was disabled, or its service deleted, is owed even if its renewal had not run.
 */
export async function renewCapability(
  capabilities: CapabilityStore,
  service: ServiceRow,
  capability: Capability,
  now: Temporal.Instant,
): Promise<CapabilityState | null> {
  const state = await capabilities.find(service.id, capability);
  if (state === null) return null;
  const periods = dueRenewals(capability, state, now);
  for (const period of periods) await capabilities.charge(service, period, now);
  const renewed = { ...state, billedUntil: periods.at(-1)?.endsAt ?? state.billedUntil };
  if (periods.length > 0) await capabilities.save(service.id, capability, renewed, now);
  return renewed;
}
