import { ALERT_PATHS, DEPLOY_OPERATION } from '#entry/http/openapi/ingest_paths.ts';
import { refusedAs, refusedWhen } from '#entry/http/openapi/problems.ts';
import type { JsonSchema } from '#entry/http/openapi/schemas.ts';
import type { ProtocolReference } from '#ingest/protocol.ts';
import { SENTRY_ENDPOINTS, SENTRY_PROJECT_PATTERN } from '#ingest/protocols/sentry.ts';
import { CHECK_IN_STATUSES } from '#modules/monitors/decide/check_in.ts';
import { METRIC_PROTOCOLS } from '#ingest/registry.ts';
import { INGEST_PATHS } from '#kernel/api_paths.ts';

const TEXT: JsonSchema = { type: 'string' };
const COUNT: JsonSchema = { type: 'integer', minimum: 0 };
const BINARY: JsonSchema = { type: 'string', contentMediaType: 'application/octet-stream' };

/** Returns the content of a body of JSON. */
const json = (schema: JsonSchema, example?: object): JsonSchema => {
  return { 'application/json': { schema, ...(example !== undefined && { example }) } };
};

/** Returns the schema of an object whose named properties are always there. */
const objectOf = (properties: JsonSchema, ...required: readonly string[]): JsonSchema => {
  return { type: 'object', ...(required.length > 0 && { required }), properties };
};

const inPath = (name: string, description: string, schema: JsonSchema, example: string): JsonSchema => {
  return { name, in: 'path', required: true, description, schema, example };
};

const PROJECT = inPath(
  'projectId',
  'the number at the end of the DSN',
  { type: 'string', pattern: SENTRY_PROJECT_PATTERN },
  '42',
);
const KEY = inPath('key', 'the key in the DSN', TEXT, '0123456789abcdef0123456789abcdef');

const REFUSED = refusedAs([
  'invalid_input',
  'unauthenticated',
  'forbidden',
  'payload_too_large',
  'unsupported_media_type',
  'rate_limited',
  'internal',
  'unavailable',
]);

const MALFORMED = refusedWhen('invalid_input', 'The request is no valid HTTP.', 'the request is malformed');

/** Returns an operation that needs no key. */
const operation = (operationId: string, summary: string, responses: JsonSchema, more: JsonSchema = {}): JsonSchema => {
  return {
    operationId,
    tags: ['Operation'],
    summary,
    security: [],
    ...more,
    responses: { ...responses, ...MALFORMED },
  };
};

const INGESTION_KEY: JsonSchema = {
  security: [{ ingestionKey: [] }, { ingestionKeyHeader: [] }, { ingestionBasic: [] }],
};

const DSN: JsonSchema = { security: [{ sentryAuth: [] }, { sentryKey: [] }, {}] };

/**
 * Returns the paths other than those of actions: 20 operations that take bytes or answer probes, so that no declaration
 * has their schema. What several of them have in common is said once.
 */
export function otherPaths(): Record<string, JsonSchema> {
  return {
    ...metricPaths(),
    ...sentryPaths(),
    ...ALERT_PATHS,
    [INGEST_PATHS.deploys]: { post: DEPLOY_OPERATION },
    [INGEST_PATHS.sentry_cron.replaceAll(/:(\w+)/g, '{$1}')]: {
      get: toCronOperation('get'),
      post: toCronOperation('post'),
    },
    '/api/calendar/{secret}.ics': { get: CALENDAR },
    '/healthz': { get: HEALTH },
    '/livez': { get: LIVE },
    '/readyz': { get: READY },
    '/metrics': { get: METRICS_OF_PROCESS },
    '/api/openapi.json': { get: THIS_DOCUMENT },
  };
}

/** Returns the paths that take metrics, each as its protocol declares it. */
function metricPaths(): Record<string, JsonSchema> {
  return Object.fromEntries(METRIC_PROTOCOLS.map(({ path, reference }) => [path, { post: toIngestion(reference) }]));
}

export function ingestionSchemas(): Record<string, object> {
  return Object.fromEntries(METRIC_PROTOCOLS.flatMap(({ reference }) => Object.entries(reference.schemas ?? {})));
}

function toIngestion({ operationId, summary, description, request, accepted, refused }: ProtocolReference): JsonSchema {
  const { status, ...answer } = accepted;
  return {
    operationId,
    tags: ['Ingestion'],
    summary,
    description,
    ...INGESTION_KEY,
    requestBody: { required: true, content: request },
    responses: {
      [status]: answer,
      ...(refused === undefined ? REFUSED : Object.fromEntries(Object.keys(REFUSED).map((code) => [code, refused]))),
    },
  };
}

function sentryPaths(): Record<string, JsonSchema> {
  return Object.fromEntries(
    SENTRY_ENDPOINTS.map(({ path, summary, mediaType }) => [
      path.replaceAll(/:(\w+)/g, '{$1}'),
      { post: toSentryOperation(path, summary, mediaType) },
    ]),
  );
}

function toSentryOperation(path: string, summary: string, mediaType: string): JsonSchema {
  const [, , , name = ''] = path.split('/');
  const id = { id: { type: ['string', 'null'] } };
  return {
    operationId: `ingest_sentry_${name.replaceAll('-', '_')}`,
    tags: ['Ingestion'],
    summary,
    description:
      'The address that a Sentry SDK makes of the DSN of a service, with and without the slash at its end. Any content type and gzip, deflate, br or zstd are taken; CORS is open. The key comes as `X-Sentry-Auth`, as `sentry_key` in the query, or in the head of the envelope.',
    ...DSN,
    parameters: path.includes(':key') ? [PROJECT, KEY] : [PROJECT],
    requestBody: { required: true, content: { [mediaType]: { schema: BINARY } } },
    responses: {
      '200': { description: 'Taken.', content: json(objectOf(id), { id: '4c1d7f0e9b2a4c8d8e6f5a3b2c1d0e9f' }) },
      ...REFUSED,
    },
  };
}

function toCronOperation(method: string): JsonSchema {
  const taken = { slug: TEXT, faults: { type: 'array', items: TEXT, description: 'of the schedule' } };
  const latest = 'which run; the one that began last when left out';
  return {
    operationId: `ingest_check_in_${method}`,
    tags: ['Ingestion'],
    summary: 'Report the status of a run of a scheduled job',
    description:
      'For jobs without an SDK. With POST, a JSON body may hold the same fields and a `monitor_config` with the schedule, as Sentry has it.',
    security: [],
    parameters: [
      PROJECT,
      inPath('slug', 'what the job is called', TEXT, 'nightly-backup'),
      KEY,
      { name: 'status', in: 'query', schema: { type: 'string', enum: [...CHECK_IN_STATUSES] }, example: 'ok' },
      { name: 'check_in_id', in: 'query', description: latest, schema: TEXT },
      { name: 'environment', in: 'query', description: '`production` when left out', schema: TEXT },
      { name: 'duration', in: 'query', description: 'of the run, in seconds', schema: { type: 'number' } },
    ],
    ...(method === 'post' && { requestBody: { required: false, content: json({}) } }),
    responses: {
      '202': { description: 'Taken.', content: json(objectOf(taken), { slug: 'nightly-backup', faults: [] }) },
      ...REFUSED,
      ...refusedWhen(
        'conflict',
        'The service has no room for another cron monitor.',
        'this service has 200 cron monitors',
      ),
    },
  };
}

const CALENDAR = operation(
  'calendar_feed',
  'Who is on call in a schedule, or all shifts of one person, as iCalendar',
  {
    '200': { description: 'The calendar, all times in UTC.', content: { 'text/calendar': { schema: TEXT } } },
    ...refusedWhen(
      'not_found',
      'No calendar has this address.',
      'no calendar has this address; it may have been revoked',
    ),
  },
  {
    description:
      'For calendar programs (RFC 5545), under an address that is secret and can be revoked: from 14 days back to 90 days ahead.',
    parameters: [{ name: 'secret', in: 'path', required: true, schema: TEXT }],
  },
);

const orNull = (description: string): JsonSchema => ({ type: ['number', 'null'], description });
const LATE_SECONDS = orNull('0 for none; null when unknown');
const STATUS: JsonSchema = { type: 'string', enum: ['up', 'degraded', 'down'] };

const STORE_STATE = objectOf(
  { status: { type: 'string', enum: ['up', 'down'] }, latencyMs: { type: 'number' }, error: TEXT },
  'status',
  'latencyMs',
);

const PAGER_STATE: JsonSchema = {
  status: STATUS,
  unseenDataSeconds: orNull('age of the oldest accepted event or point that no rule has seen; null when unknown'),
  overdueStepSeconds: LATE_SECONDS,
  overdueMessageSeconds: LATE_SECONDS,
  pagerSilentSeconds: orNull('since a pager process was last at work; null when unknown'),
  workerSilentSeconds: orNull('since every worker process is frozen or gone, 0 while one is alive; null when unknown'),
  problems: { type: 'array', items: TEXT, description: 'what is wrong and how old it is; empty when up' },
};

const HEALTH_BODY = json(
  objectOf(
    {
      status: STATUS,
      process: objectOf({ uptimeSeconds: COUNT, residentBytes: COUNT }),
      stores: { type: 'object', additionalProperties: STORE_STATE },
      pager: {
        ...objectOf(PAGER_STATE, ...Object.keys(PAGER_STATE)),
        description:
          'from accepted data to a request at a provider; degraded when data waits, or rules or the pager stand still, for more than 30 seconds, or no worker is alive, or a step or message is overdue by more than 15',
      },
    },
    'status',
    'process',
    'stores',
    'pager',
  ),
);

const HEALTH = operation('healthz', 'Show whether the process, each store and the pager are healthy', {
  '200': { description: 'All are up.', content: HEALTH_BODY },
  '503': { description: 'A store is down, its disk is full or nearly so, or pages are late.', content: HEALTH_BODY },
});

const READY_BODY = json(
  objectOf(
    {
      ready: { type: 'boolean' },
      ingestion: {
        type: 'boolean',
        description: 'false while metrics and exceptions are refused, as on a disk that is nearly full; else absent',
      },
      degraded: {
        type: 'boolean',
        description: 'true while a store is away without which incidents can still be answered; else absent',
      },
      because: { type: 'array', items: TEXT, description: 'what does not work; absent when everything does' },
    },
    'ready',
  ),
);

const LIVE = operation('livez', 'Show whether this process answers, whatever the stores do', {
  '200': { description: 'It answers.', content: json(objectOf({ live: { type: 'boolean' } }, 'live')) },
});

const UNREADY = 'Starting, draining, PostgreSQL is down or its disk is full, or pages are late.';

const READY = operation('readyz', 'Show whether this process is ready for traffic', {
  '200': { description: 'Ready.', content: READY_BODY },
  '503': { description: UNREADY, content: READY_BODY },
});

const METRICS_OF_PROCESS = operation(
  'process_metrics',
  'Metrics of the product itself, as Prometheus text',
  {
    '200': { description: 'The metrics.', content: { 'text/plain': { schema: TEXT } } },
    ...refusedAs(['unauthenticated']),
  },
  {
    description:
      'For those who hold the value of METRICS_TOKEN. With METRICS_PORT they are also served, without a token, by a listener of their own.',
    security: [{ metricsToken: [] }],
  },
);

const THIS_DOCUMENT = operation(
  'openapi',
  'This document',
  { '200': { description: 'OpenAPI 3.1.', content: json({ type: 'object' }) } },
  { description: 'Readable at `/docs`.' },
);
