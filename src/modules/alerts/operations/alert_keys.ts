import { Type } from 'typebox';

import { type ActionContext, defineOperation } from '#actions/action_context.ts';
import { EXAMPLE_IDS as IDS, IdText, StrictObject } from '#actions/fields.ts';
import { newAlertKey, openAlertKey, sealAlertKey } from '#auth/alert_access.ts';
import { asId, type Id } from '#kernel/ids.ts';
import { CREDENTIALS_SHOWN } from '#modules/audit/store/audit_store.ts';

/** A service, and by which policy its alerts page that no other route takes. */
const AlertKeyInput = StrictObject({
  serviceId: IdText,
  policyId: Type.Optional(
    Type.String({ description: 'the escalation policy of the last route, which takes what no other route does' }),
  ),
});

const AlertKeyView = Type.Object({
  serviceId: IdText,
  alertKey: Type.String({ description: 'opens the addresses for alerts of this service, and nothing else' }),
});

interface LockedService {
  readonly orgId: Id<'org'>;
  readonly id: Id<'service'>;
}

async function issueAlertKey(service: LockedService, { stores, cipher, now }: ActionContext): Promise<string> {
  const key = newAlertKey();
  await stores.alertKeys.insert(service, sealAlertKey(key, cipher), now);
  return key;
}

/** Sets the policy of the last route; throws `not_found` for one that is not there. */
async function setLastPolicy(
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

export const showAlertKey = defineOperation({
  name: 'show_alert_key',
  summary: 'Show the key by which other tools send alerts of a service; it is made when there is none.',
  permission: 'services:edit',
  effect: 'write',
  input: AlertKeyInput,
  result: AlertKeyView,
  example: { serviceId: IDS.serviceId, policyId: IDS.policyId },
  async handle({ serviceId, policyId }, context) {
    const { stores, caller, cipher } = context;
    const service = await stores.services.lock(caller.orgId, serviceId);
    const secret = await stores.alertKeys.findSecret(service.id);
    const alertKey = secret === null ? await issueAlertKey(service, context) : openAlertKey(secret, cipher);
    context.record({
      target: service.id,
      before: null,
      after: secret === null ? { alertKey: 'issued' } : CREDENTIALS_SHOWN,
    });
    await setLastPolicy(service, policyId, context);
    return { serviceId: service.id, alertKey };
  },
});

export const rotateAlertKey = defineOperation({
  name: 'rotate_alert_key',
  summary: 'Issue a new alert key for a service and revoke the one before, which is refused within a second.',
  permission: 'services:edit',
  effect: 'delete',
  stepUp: true,
  input: AlertKeyInput,
  result: AlertKeyView,
  example: { serviceId: IDS.serviceId, policyId: IDS.policyId },
  async handle({ serviceId, policyId }, context) {
    const { stores, caller, now } = context;
    const service = await stores.services.lock(caller.orgId, serviceId);
    const wasThere = await stores.alertKeys.revoke(service.id, now);
    const alertKey = await issueAlertKey(service, context);
    context.record({
      target: service.id,
      before: { alertKey: wasThere ? 'revoked' : 'none' },
      after: { alertKey: 'issued' },
    });
    await setLastPolicy(service, policyId, context);
    return { serviceId: service.id, alertKey };
  },
});

export const revokeAlertKey = defineOperation({
  name: 'revoke_alert_key',
  summary: 'Revoke the alert key of a service: its tools are refused within a second, until a new one is made.',
  permission: 'services:edit',
  effect: 'delete',
  stepUp: true,
  input: StrictObject({ serviceId: IdText }),
  result: Type.Object({ serviceId: IdText, revoked: Type.Literal(true) }),
  async handle({ serviceId }, context) {
    const { stores, caller, now } = context;
    const service = await stores.services.lock(caller.orgId, serviceId);
    const wasThere = await stores.alertKeys.revoke(service.id, now);
    if (wasThere)
      context.record({ target: service.id, before: { alertKey: 'issued' }, after: { alertKey: 'revoked' } });
    return { serviceId: service.id, revoked: true as const };
  },
});
