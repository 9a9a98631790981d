import { Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { newAlertKey, sealAlertKey } from '#auth/alert_access.ts';
import type { Id } from '#kernel/ids.ts';
import { asId } from '#kernel/ids.ts';

/** A service, and by which policy its alerts page that no other route takes. */
export const AlertKeyInput = Type.Object(
  {
    serviceId: IdText,
    policyId: Type.Optional(
      Type.String({ description: 'the escalation policy of the last route, which takes what no other route does' }),
    ),
  },
  STRICT,
);

export const AlertKeyView = Type.Object({
  serviceId: IdText,
  alertKey: Type.String({ description: 'opens the addresses for alerts of this service, and nothing else' }),
});

interface LockedService {
  readonly orgId: Id<'org'>;
  readonly id: Id<'service'>;
}

/** Makes a key for a service that is locked and has none. */
export async function issueAlertKey(service: LockedService, { stores, cipher, now }: ActionContext): Promise<string> {
  const key = newAlertKey();
  await stores.alertKeys.insert(service, sealAlertKey(key, cipher), now);
  return key;
}

/** Sets the policy of the last route; throws `not_found` for one that is not there. */
export async function setLastPolicy(
  service: LockedService,
  policyId: string | undefined,
  { stores, caller, now, record }: ActionContext,
): Promise<void> {
  if (policyId === undefined) return;
  const policy = await stores.policies.get(caller.orgId, policyId);
  const routes = await stores.alertRoutes.list(service.id);
  const last = routes.at(-1);
  if (last === undefined) throw new Error('there is always a last route');
  if (last.policyId === policy.id && last.outcome === 'page') return;
  const changed = { ...last, outcome: 'page' as const, policyId: asId('policy', policy.id) };
  await stores.alertRoutes.replace(service, [...routes.slice(0, -1), changed], now);
  record({ target: service.id, before: { lastRoutePolicyId: last.policyId }, after: { lastRoutePolicyId: policy.id } });
}
