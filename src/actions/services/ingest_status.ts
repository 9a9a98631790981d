import { type Static, Type } from 'typebox';

import type { ActionContext } from '#actions/action_context.ts';
import { nullable, Timestamp } from '#actions/fields.ts';
import type { Id } from '#kernel/ids.ts';
import { type Temporal, toTimestampOrNull } from '#kernel/time.ts';

const COUNT = Type.Integer({ minimum: 0 });

export const IngestStatusView = Type.Object({
  metrics: Type.Object({ lastSeenAt: nullable(Timestamp), pointsLastHour: COUNT }),
  exceptions: Type.Object({ lastSeenAt: nullable(Timestamp), eventsLastHour: COUNT }),
  refused: Type.Array(Type.Object({}, { additionalProperties: true }), {
    description: 'empty: what is refused is told to its sender, and not kept',
  }),
});

/** What has come in of the service, as far as it was stored. Throws `not_found`. */
export async function readIngestStatus(
  { stores, metrics, exceptions }: Pick<ActionContext, 'stores' | 'metrics' | 'exceptions'>,
  orgId: Id<'org'>,
  serviceId: string,
  now: Temporal.Instant,
): Promise<Static<typeof IngestStatusView>> {
  const service = await stores.services.get(orgId, serviceId);
  const since = now.subtract({ hours: 1 });
  const points = await metrics.arrivals(service.id, since);
  return {
    metrics: { lastSeenAt: toTimestampOrNull(points.lastAt), pointsLastHour: points.count },
    exceptions: {
      lastSeenAt: toTimestampOrNull(await stores.exceptionGroups.lastSeenAt(service.id)),
      eventsLastHour: await exceptions.countOfService(service.id, since),
    },
    refused: [],
  };
}
