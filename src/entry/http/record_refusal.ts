import type { FastifyRequest } from 'fastify';

import { recordRefusedAnswer } from '#actions/audit/record_refused_answer.ts';
import type { AppContext } from '#entry/compose.ts';
import type { Via } from '#core/access/via.ts';
import type { NotificationRow } from '#storage/postgres/notification_row.ts';

/** What was asked for in the name of a message, and refused. */
interface Refusal {
  readonly action: string;
  readonly via: Via;
  /** The message as far as it is known: without one no organization is concerned, and only our own log keeps it. */
  readonly notification: NotificationRow | null;
  readonly why: string;
}

/** Records an answer or report that was forged, altered or too old. Its sender is unknown. */
export async function recordRefusal(context: AppContext, request: FastifyRequest, refusal: Refusal): Promise<void> {
  const { action, via, notification, why } = refusal;
  const origin = { requestId: request.id, address: request.ip };
  context.log.warn({ ...origin, action, why, notificationId: notification?.id }, 'refused');
  if (notification === null) return;
  await recordRefusedAnswer(context, notification, { action, via, why, origin });
}
