import type { Static } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { type ServiceView, toServiceView } from '#modules/services/view.ts';
import type { ServiceRow } from '#modules/services/store/service_store.ts';

/** Locks the service, lets `change` alter it or what belongs to it, and records the difference. */
export async function changeService(
  serviceId: string,
  { stores, caller, now, record }: ActionContext,
  change: (service: ServiceRow) => void | Promise<void>,
): Promise<Static<typeof ServiceView>> {
  const row = await stores.services.lock(caller.orgId, serviceId);
  const before = toServiceView(await stores.services.get(caller.orgId, serviceId));
  await change(row);
  await stores.services.save(row, now);
  const after = toServiceView(await stores.services.get(caller.orgId, serviceId));
  record({ target: row.id, before, after });
  return after;
}
