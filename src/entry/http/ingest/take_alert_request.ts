import type { AlertExchange } from '#entry/http/ingest/alert_exchange.ts';
import { toAppError } from '#entry/http/problem.ts';
import type { AlertBodies } from '#ingest/alert_bodies.ts';
import type { AlertAnswer, AlertEndpoint, AlertRequest } from '#ingest/protocols/alerts/alert_protocol.ts';
import type { RateLimiter } from '#ingest/rate_limiter.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import type { KeyedLimit } from '#kernel/keyed_limit.ts';
import type { Clock } from '#kernel/time.ts';
import type { AlertTarget } from '#modules/alerts/store/alert_key_store.ts';

/** Collaborators of every way in for alerts. */
export interface AlertDoors {
  readonly bodies: AlertBodies;
  readonly exchange: AlertExchange;
  /** Alerts of one service a second. */
  readonly rates: RateLimiter;
  /** Large bodies are read one at a time for each service. */
  readonly reading: KeyedLimit;
  readonly clock: Clock;
}

/** A request whose key was checked. */
interface OpenedRequest {
  readonly endpoint: AlertEndpoint;
  readonly request: AlertRequest;
  readonly target: AlertTarget;
  readonly bytes: Buffer;
  readonly contentType: string | undefined;
  readonly origin: RequestOrigin;
}

/** Does what a request asks for, within the limits of its service; returns once it is stored, and throws an AppError. */
export async function takeAlertRequest(
  { bodies, exchange, rates, reading, clock }: AlertDoors,
  { endpoint, request, target: { orgId, serviceId }, bytes, contentType, origin }: OpenedRequest,
): Promise<AlertAnswer> {
  const target = { orgId, serviceId };
  await rates.check(serviceId);
  return await reading.run(serviceId, async () => {
    try {
      const now = clock.now();
      const read = await bodies.read(orgId, endpoint, { bytes, contentType }, (parsed) =>
        endpoint.read({ ...request, ...parsed, now }, target),
      );
      const { protocol } = endpoint;
      const answered = await exchange.runApproved(target, protocol, read, origin);
      if (read.kind === 'alerts') exchange.keepBody(target, read.sent[0]?.source, bytes, null);
      if (read.kind === 'certified') exchange.keepBody(target, read.source, bytes, null);
      if (read.kind === 'mapped') exchange.keepBody(target, { protocol, name: read.name }, bytes, null);
      return answered;
    } catch (error) {
      const refusal = toAppError(error);
      if (refusal.code === 'invalid_input') {
        const source = { protocol: endpoint.protocol, name: request.path['name'] ?? '' };
        exchange.keepBody(target, source, bytes, refusal.message);
      }
      throw error;
    }
  });
}
