import type { FastifyInstance, FastifyRequest } from 'fastify';

import { routesFor, type IngestContext } from '#entry/http/ingest/ingest_context.ts';
import { answerPreflight, INGEST_CORS } from '#entry/http/ingest/ingest_cors.ts';
import { asHeader, headersOf } from '#entry/http/ingest/ingest_sentry.ts';
import { sendProblem, toAppError } from '#entry/http/problem.ts';
import { rawBodyOf } from '#entry/http/request_body.ts';
import { setSender } from '#entry/http/connections/sender.ts';
import { checkInRefused } from '#ingest/check_in_intake.ts';
import { findReachedLimit, limitsHeader } from '#ingest/item_limits.ts';
import { sentryKeyOf } from '#ingest/protocols/sentry/auth.ts';
import { readCheckInRequest } from '#ingest/protocols/sentry/check_ins.ts';
import { SENTRY_PROJECT_PATTERN } from '#ingest/protocols/sentry.ts';
import { INGEST_PATHS } from '#kernel/api_paths.ts';
import { AppError } from '#kernel/errors.ts';
import type { IngestTarget } from '#modules/services/store/ingest_key_store.ts';

interface CronRoute {
  readonly Params: { readonly projectId: string; readonly slug: string; readonly key?: string };
  readonly Querystring: Readonly<Record<string, unknown>>;
}

/** Limit on the body, a schedule and a status: real ones have a few hundred bytes. */
const BODY_BYTES_MAX = 64 * 1024;

const NO_CHECK_IN =
  'report the status of the run: ?status=in_progress, ?status=ok or ?status=error, or the same as "status" in a JSON body';

/** Whether the request has the ingestion key, which must not be used in browsers. */
function hasIngestionKey({ authorization, ...headers }: FastifyRequest['headers']): boolean {
  return headers['x-api-key'] !== undefined || /^(Bearer|Basic) /i.test(authorization ?? '');
}

/** Mounts the addresses where scheduled jobs without an SDK check in: with `curl`, or with a GET. */
export function mountCronIngest(scope: FastifyInstance, context: IngestContext): void {
  const targets = new WeakMap<FastifyRequest, IngestTarget>();
  const limited = new WeakMap<FastifyRequest, string>();
  const byKey = new WeakSet<FastifyRequest>();
  scope.addHook('onRequest', async (_request, reply) => {
    void reply.headers(INGEST_CORS);
  });
  scope.setErrorHandler((error, request, reply) => {
    void reply.headers(headersOf(toAppError(error), limited.get(request) ?? null));
    return sendProblem(error, request, reply, context.log);
  });
  const path = INGEST_PATHS.sentry_cron.replace(':projectId', `:projectId(${SENTRY_PROJECT_PATTERN})`);
  for (const url of [path, path.replace('/:key', '')].flatMap((template) => routesFor(template, context))) {
    scope.route<CronRoute>({
      method: ['GET', 'POST'],
      url,
      bodyLimit: BODY_BYTES_MAX,
      exposeHeadRoute: false,
      async onRequest(request) {
        const { projectId, key } = request.params;
        const sent = sentryKeyOf(request.headers, { ...request.query, ...(key !== undefined && { sentry_key: key }) });
        const isByKey = sent === null && hasIngestionKey(request.headers);
        const target = await context.badKeys.guard(request.ip, () =>
          isByKey
            ? context.access.openProject(request.headers, projectId)
            : context.access.openExceptions(sent, projectId),
        );
        if (isByKey) byKey.add(request);
        targets.set(request, target);
        setSender(request, target.serviceId);
      },
      async handler(request, reply) {
        const target = targets.get(request);
        if (target === undefined) throw new Error('the request was not authenticated');
        const checkIn = readCheckInRequest(request.params.slug, request.query, rawBodyOf(request));
        if (checkIn === null) throw new AppError('invalid_input', NO_CHECK_IN);
        const reached = await findReachedLimit(context.itemLimits, 'checkIns', target.serviceId, 1);
        if (reached !== null) {
          limited.set(request, limitsHeader([reached]));
          throw reached.error;
        }
        const { taken, faults } = await context.checkIns.accept(target, [checkIn], byKey.has(request));
        if (taken === 0) throw checkInRefused(faults);
        if (faults.length > 0) void reply.header('x-sentry-error', asHeader(faults.join('; ')));
        return await reply.code(202).send({ slug: checkIn.slug, faults });
      },
    });
    scope.options(url, answerPreflight);
  }
}
