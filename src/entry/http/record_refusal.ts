import type { FastifyRequest } from 'fastify';

import type { House } from '#entry/compose.ts';
import type { Via } from '#kernel/caller.ts';
import type { NotificationRow } from '#storage/postgres/notification_store.ts';
import { storesOf } from '#storage/postgres/stores.ts';

/** What was asked for in the name of a message, and refused. */
interface Refusal {
  readonly action: string;
  readonly via: Via;
  /** The message as far as it is known: without one no organization is concerned, and only our own log keeps it. */
  readonly notification: NotificationRow | null;
  readonly why: string;
}

/** Notes an answer or report that was forged, altered or too old (decisions §6). Nobody knows who sent it. */
export async function recordRefusal(house: House, request: FastifyRequest, refusal: Refusal): Promise<void> {
  const { action, via, notification, why } = refusal;
  const origin = { requestId: request.id, address: request.ip };
  house.log.warn({ ...origin, action, why, notificationId: notification?.id }, 'refused');
  if (notification === null) return;
  await storesOf(house.db.session()).audit.append(
    {
      orgId: notification.orgId,
      actor: { kind: 'unknown' },
      via,
      action,
      target: notification.incidentId,
      before: null,
      after: { notificationId: notification.id, why },
      result: 'forbidden',
      origin,
    },
    house.clock.now(),
  );
}
