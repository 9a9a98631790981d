import type { IngestContext } from '#entry/http/ingest/ingest_context.ts';
import { toAppError } from '#entry/http/problem.ts';
import { type DecodedPoints, pointLimits } from '#ingest/admission/point_admission.ts';
import type { DecodePoints, NamedSeries, PortSender } from '#ingest/protocol.ts';
import { inSlices } from '#kernel/cooperative_task.ts';
import { NEW_SERIES_RETRY_SECONDS } from '#ingest/series/new_series_limiter.ts';
import { describeSharedSeries } from '#ingest/admission/refusals.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { describeTypeChanges } from '#ingest/series/metric_types.ts';
import type { IngestTarget } from '#modules/services/store/ingest_key_store.ts';

/**
 * Decodes a body, whatever its protocol, and stores what can be stored of it, within the limits of its service. Throws
 * `unavailable` if it holds more new series than can be accepted now; what is stored already may be sent again.
 * `prepare` runs in turn with other bodies.
 */
export async function takePoints(
  context: IngestContext,
  target: IngestTarget,
  prepare: () => Promise<DecodePoints>,
): Promise<DecodedPoints> {
  const { serviceId } = target;
  const decoded = await context.unpacking.run(serviceId, async () => {
    const decode = await prepare();
    const [types, starts] = await Promise.all([context.types.of(serviceId), context.starts.of(serviceId)]);
    return await context.series.read(serviceId, async (allowance) => {
      const limits = pointLimits(target.retentionMetrics, allowance, starts, types);
      return await inSlices(decode(context.clock.now(), limits));
    });
  });
  const { points, rejected } = decoded;
  await context.pointRates.spend(serviceId, Math.max(1, points.length + rejected.count), async () => {
    if (points.length > 0) await context.intake.acceptPoints(target, points);
  });
  decoded.remember();
  context.exemplars.record(serviceId, decoded.exemplars, context.clock.now().epochMilliseconds);
  if (decoded.typeChanges.count > 0) context.log.warn({ serviceId }, describeTypeChanges(decoded.typeChanges));
  if (decoded.shared !== undefined && decoded.shared.count > 0) {
    context.log.debug({ serviceId }, describeSharedSeries(decoded.shared));
  }
  context.counters.countPoints(serviceId, decoded);
  if (decoded.deferred > 0) throw tooManyAtOnce(decoded.deferred);
  return decoded;
}

function tooManyAtOnce(points: number): AppError {
  const message = `${points} points of new series are not stored yet: more come at once than can be taken in; send the request again`;
  return new AppError('unavailable', message, { retryAfterSeconds: NEW_SERIES_RETRY_SECONDS });
}

/** Finds senders of protocols that have a port of their own. */
export function portSenders(
  context: IngestContext,
  newestValues: (serviceId: Id<'service'>, series: readonly NamedSeries[]) => Promise<readonly (number | null)[]>,
): (key: string, address: string) => Promise<PortSender> {
  return async (key, address) => {
    const headers = { authorization: `Bearer ${key}` };
    const target = await context.badKeys.guard(address, () => context.access.openMetrics(headers));
    const { serviceId } = target;
    const refuseCall = ({ code }: AppError): void =>
      context.counters.refusedRequests.add({ kind: 'points', code, serviceId });
    return {
      serviceId,
      refuseCall,
      async take(decode) {
        try {
          await context.pointRates.check(serviceId);
          return await takePoints(context, target, async () => decode);
        } catch (error) {
          refuseCall(toAppError(error));
          context.reachedLimits.recordRefusal(toAppError(error), serviceId);
          throw error;
        }
      },
      newestValues: (series) => newestValues(serviceId, series),
      refuse: (points, reason = 'faulty') =>
        context.counters.refusedItems.add({ kind: 'points', reason, serviceId }, points),
    };
  };
}
