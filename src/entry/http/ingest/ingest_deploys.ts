import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';

import { checkInput } from '#actions/check_input.ts';
import type { ActionRuntime } from '#actions/run_action.ts';
import { EnvironmentName, ReleaseName, StrictObject, Timestamp } from '#actions/fields.ts';
import { routesFor, type IngestContext } from '#entry/http/ingest/ingest_context.ts';
import { parseBodies } from '#entry/http/ingest/sentry_api/bodies.ts';
import { setSender } from '#entry/http/connections/sender.ts';
import type { SentDeploy } from '#ingest/protocols/alerts/alert_protocol.ts';
import { INGEST_PATHS } from '#kernel/api_paths.ts';
import { AppError, type Fault, invalidInput } from '#kernel/errors.ts';
import { Temporal, toTimestamp } from '#kernel/time.ts';
import { authorOf, recordDeploy, type Requester } from '#modules/releases/deploys.ts';
import type { IngestTarget } from '#modules/services/store/ingest_key_store.ts';
import { inUnitOfWork } from '#modules/stores.ts';

const BODY_BYTES_MAX = 16 * 1024;
const DAYS_BACK_MAX = 400;
const DEFAULT_ENVIRONMENT = 'production';

/** Deploy as reported by a pipeline. */
export const DeployInput = StrictObject({
  release: ReleaseName,
  environment: Type.Optional(EnvironmentName),
  name: Type.Optional(ReleaseName),
  url: Type.Optional(Type.String({ maxLength: 2_000, pattern: String.raw`^https?://\S+$` })),
  startedAt: Type.Optional(Timestamp),
  finishedAt: Type.Optional(Timestamp),
});

/** Mounts the route by which a pipeline reports a deploy, with the ingestion key of the service that it deploys. */
export function mountDeployIngest(scope: FastifyInstance, context: IngestContext, runtime: ActionRuntime): void {
  parseBodies(scope);
  const targets = new WeakMap<FastifyRequest, IngestTarget>();
  for (const url of routesFor(INGEST_PATHS.deploys, context)) {
    scope.route({
      method: 'POST',
      url,
      bodyLimit: BODY_BYTES_MAX,
      async onRequest(request) {
        const target = await context.badKeys.guard(request.ip, () => context.access.openService(request.headers));
        targets.set(request, target);
        setSender(request, target.serviceId);
      },
      async handler(request, reply) {
        const target = targets.get(request);
        if (target === undefined) throw new Error('the request was not authenticated');
        checkInput({ input: DeployInput }, request.body);
        const deploy = await record(runtime, target, request.body as Static<typeof DeployInput>, {
          requestId: request.id,
          address: request.ip,
        });
        return reply.code(201).send(deploy);
      },
    });
    scope.route({ method: ['GET', 'PUT', 'PATCH', 'DELETE'], url, onRequest: refuseMethod, handler: () => {} });
  }
}

async function refuseMethod(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  void reply.header('allow', 'POST');
  throw new AppError('method_not_allowed', 'deploys are recorded with POST');
}

async function record(
  runtime: ActionRuntime,
  { orgId, serviceId }: IngestTarget,
  { release, environment = DEFAULT_ENVIRONMENT, name, url, ...times }: Static<typeof DeployInput>,
  origin: Requester['origin'],
): Promise<object> {
  return await inUnitOfWork(runtime, async ({ stores, now }) => {
    const { startedAt, finishedAt } = timesOf(times, now);
    const requester: Requester = { orgId, actor: { kind: 'system' }, via: 'rest', origin };
    const author = authorOf(stores, requester, now);
    const deploy = { release, environment, name: name ?? null, url: url ?? null, startedAt, finishedAt };
    const [recorded] = await recordDeploy(
      stores,
      author,
      { serviceIds: [serviceId], ...deploy },
      { now, limits: runtime.installation.limits },
    );
    if (recorded === undefined) throw new Error('no deploy was recorded');
    return { deployId: recorded.id, serviceId, release, environment, finishedAt: toTimestamp(recorded.finishedAt) };
  });
}

/** Returns the times of the deploy. Throws `invalid_input` if they are impossible. */
function timesOf(
  times: { readonly startedAt?: string; readonly finishedAt?: string },
  now: Temporal.Instant,
): { startedAt: Temporal.Instant | null; finishedAt: Temporal.Instant | null } {
  const faults: Fault[] = [];
  const read = (path: 'startedAt' | 'finishedAt'): Temporal.Instant | null => {
    const text = times[path];
    if (text === undefined) return null;
    try {
      const at = Temporal.Instant.from(text);
      const oldest = now.subtract({ hours: 24 * DAYS_BACK_MAX });
      if (Temporal.Instant.compare(at, oldest) < 0) {
        faults.push({ path, message: `is more than ${DAYS_BACK_MAX} days ago` });
      }
      return at;
    } catch {
      faults.push({ path, message: 'is not a time like 2027-01-31T12:00:00Z' });
      return null;
    }
  };
  const [startedAt, finishedAt] = [read('startedAt'), read('finishedAt')];
  if (startedAt !== null && Temporal.Instant.compare(startedAt, finishedAt ?? now) > 0) {
    faults.push({ path: 'startedAt', message: 'is later than the end of the deploy' });
  }
  if (faults.length > 0) throw invalidInput(faults);
  return { startedAt, finishedAt };
}

const RELEASE_LENGTH_MAX = 200;

/** Records a change that another tool tells of as a deploy; its name stands for the release. */
export async function recordSentDeploy(
  runtime: ActionRuntime,
  { orgId, serviceId }: Pick<IngestTarget, 'orgId' | 'serviceId'>,
  { name, url, at }: SentDeploy,
  origin: Requester['origin'],
): Promise<void> {
  await inUnitOfWork(runtime, async ({ stores, now }) => {
    const author = authorOf(stores, { orgId, actor: { kind: 'system' }, via: 'rest', origin }, now);
    const oldest = now.subtract({ hours: 24 * DAYS_BACK_MAX });
    const isKnown = at !== null && Temporal.Instant.compare(at, oldest) > 0 && Temporal.Instant.compare(at, now) <= 0;
    const deploy = {
      serviceIds: [serviceId],
      release: name.slice(0, RELEASE_LENGTH_MAX).toWellFormed(),
      environment: DEFAULT_ENVIRONMENT,
      name: null,
      url,
      startedAt: null,
      finishedAt: isKnown ? at : null,
    };
    await recordDeploy(stores, author, deploy, { now, limits: runtime.installation.limits });
  });
}
