import { Type } from 'typebox';

import { defineAction } from '#actions/action_context.ts';
import { EXAMPLE_IDS } from '#actions/example_ids.ts';
import { STRICT, IdText } from '#actions/fields.ts';
import { callerUser } from '#modules/accounts/caller_user.ts';
import { toSubscriptionView } from '#modules/contacts/subscription_view.ts';
import { notFound } from '#kernel/errors.ts';

export const deletePushSubscription = defineAction({
  name: 'delete_push_subscription',
  consoleOnly: true,
  summary: 'Unsubscribe one of your browsers from push messages.',
  permission: 'organization:view',
  effect: 'delete',
  input: Type.Object({ subscriptionId: IdText }, STRICT),
  result: Type.Object({ deleted: Type.Literal(true), subscriptionId: IdText }),
  example: { subscriptionId: EXAMPLE_IDS.subscriptionId },
  async handle({ subscriptionId }, { caller, stores, record }) {
    const row = await stores.pushSubscriptions.removeOf(callerUser(caller), subscriptionId);
    if (row === null) throw notFound('subscriptionId', 'push subscription');
    record({ target: row.id, before: toSubscriptionView(row), after: null });
    return { deleted: true as const, subscriptionId };
  },
});
