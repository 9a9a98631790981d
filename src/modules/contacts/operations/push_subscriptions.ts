import { Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { IdText, nullable, StrictObject } from '#actions/fields.ts';
import { invalidInput, notFound } from '#kernel/errors.ts';
import { callerUser } from '#modules/accounts/view.ts';
import { subscriptionFaults } from '#modules/contacts/decide/subscription_faults.ts';
import { SubscriptionView, toSubscriptionView } from '#modules/contacts/contact_view.ts';

export const createPushSubscription = defineOperation({
  name: 'create_push_subscription',
  summary: 'Subscribe one of your browsers to push messages.',
  permission: 'organization:view',
  effect: 'write',
  input: StrictObject(
    {
      endpoint: Type.String(),
      expirationTime: Type.Optional(nullable(Type.Number())),
      keys: StrictObject({ p256dh: Type.String(), auth: Type.String() }),
      label: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    },
    { description: 'PushSubscription.toJSON() of the browser, and what the person calls it' },
  ),
  result: SubscriptionView,
  example: {
    endpoint: 'https://push.example.com/send/1',
    expirationTime: null,
    keys: { p256dh: 'BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u', auth: 'tBHItJI5svbpez7KI4CCXg' },
    label: 'Laptop',
  },
  async prepare({ endpoint }, { installation }) {
    // The host is checked again at each message, since its address may change.
    if (URL.canParse(endpoint) && (await installation.isPrivateHost(new URL(endpoint).hostname))) {
      const message = 'must be the address of a public push service; this name stands for one that is not public';
      throw invalidInput([{ path: 'endpoint', message }]);
    }
  },
  async handle({ endpoint, keys, label = 'Browser' }, { caller, stores, now, record }) {
    const userId = callerUser(caller);
    const faults = subscriptionFaults({ endpoint, keys });
    if (faults.length > 0) throw invalidInput(faults);
    const row = await stores.pushSubscriptions.put(
      userId,
      { endpoint, ...keys, label },
      now,
      caller.isByProvider === true ? caller.orgId : null,
    );
    const view = toSubscriptionView(row);
    record({ target: row.id, before: null, after: view });
    return view;
  },
});

export const deletePushSubscription = defineOperation({
  name: 'delete_push_subscription',
  summary: 'Unsubscribe one of your browsers from push messages.',
  permission: 'organization:view',
  effect: 'delete',
  input: StrictObject({ subscriptionId: IdText }),
  result: Type.Object({ deleted: Type.Literal(true), subscriptionId: IdText }),
  async handle({ subscriptionId }, { caller, stores, record }) {
    const row = await stores.pushSubscriptions.lock(callerUser(caller), subscriptionId);
    if (row === null) throw notFound('subscriptionId', 'push subscription');
    await stores.pushSubscriptions.remove(row.id);
    record({ target: row.id, before: toSubscriptionView(row), after: null });
    return { deleted: true as const, subscriptionId };
  },
});
