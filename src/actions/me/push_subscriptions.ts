import { type Static, Type } from 'typebox';

import { CLOSED, IdText, nullable, Timestamp } from '#actions/fields.ts';
import { callerUser } from '#actions/me/caller_user.ts';
import type { UnitOfWork } from '#storage/postgres/unit_of_work.ts';
import type { Caller, RequestOrigin } from '#kernel/caller.ts';
import { invalidInput, notFound } from '#kernel/errors.ts';
import { toTimestamp } from '#kernel/time.ts';
import { subscriptionFaults } from '#notify/channels/push/subscription_faults.ts';
import type { PushSubscriptionRow } from '#storage/postgres/push_subscription_store.ts';
import type { Stores } from '#storage/postgres/stores.ts';

/** A browser's `PushSubscription.toJSON()`, and what the person calls the browser. */
export const SubscriptionInput = Type.Object(
  {
    endpoint: Type.String(),
    expirationTime: Type.Optional(nullable(Type.Number())),
    keys: Type.Object({ p256dh: Type.String(), auth: Type.String() }, CLOSED),
    label: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  },
  CLOSED,
);

export const SubscriptionView = Type.Object({ subscriptionId: IdText, label: Type.String(), createdAt: Timestamp });

/** Makes a browser of the caller's show messages. Throws `invalid_input` for what no push service would have made. */
export async function subscribe(
  unit: UnitOfWork,
  caller: Caller,
  input: Static<typeof SubscriptionInput>,
  origin: RequestOrigin,
): Promise<Static<typeof SubscriptionView>> {
  const { endpoint, keys, label = 'Browser' } = input;
  const userId = callerUser(caller);
  const faults = subscriptionFaults({ endpoint, keys });
  if (faults.length > 0) throw invalidInput(faults);
  const row = await unit.stores.pushSubscriptions.put(userId, { endpoint, ...keys, label }, unit.now);
  await record(unit, caller, origin, { action: 'create_push_subscription', row, before: null, after: toView(row) });
  return toView(row);
}

/** The caller's browsers, oldest first. */
export async function listSubscriptions(
  stores: Stores,
  caller: Caller,
): Promise<{ pushSubscriptions: Static<typeof SubscriptionView>[] }> {
  return { pushSubscriptions: (await stores.pushSubscriptions.listOf(callerUser(caller))).map(toView) };
}

/** Throws `not_found` when the caller has no such subscription. */
export async function unsubscribe(
  unit: UnitOfWork,
  caller: Caller,
  subscriptionId: string,
  origin: RequestOrigin,
): Promise<{ deleted: true; subscriptionId: string }> {
  const row = await unit.stores.pushSubscriptions.removeOf(callerUser(caller), subscriptionId);
  if (row === null) throw notFound('subscriptionId', 'push subscription');
  await record(unit, caller, origin, { action: 'delete_push_subscription', row, before: toView(row), after: null });
  return { deleted: true, subscriptionId };
}

/** The endpoint is a secret: the audit log has the label only. */
async function record(
  { stores, now }: UnitOfWork,
  { orgId, actor, via }: Caller,
  origin: RequestOrigin,
  change: { action: string; row: PushSubscriptionRow; before: object | null; after: object | null },
): Promise<void> {
  const { action, row, before, after } = change;
  await stores.audit.append({ orgId, actor, via, action, target: row.id, before, after, result: 'done', origin }, now);
}

function toView({ id, label, createdAt }: PushSubscriptionRow): Static<typeof SubscriptionView> {
  return { subscriptionId: id, label, createdAt: toTimestamp(createdAt) };
}
