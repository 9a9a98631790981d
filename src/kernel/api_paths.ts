/** Paths of the HTTP API, below the public address. */
export const API_PATHS = {
  actions: '/api/rest/actions',
  mcp: '/api/mcp',
  responder: '/api/mcp/responder',
  console: '/api/console',
  /** Configuration files: `/plan`, `/apply` and `/schema`. */
  config: '/api/config',
  /** Provisioning by the identity provider of an organization (RFC 7644). */
  scim: '/scim/v2',
} as const;

/** Prefix of the addresses to which other tools send alerts; the protocol defines the rest. */
export const ALERTS_PATH = '/api/alerts';

/** Path of each ingestion protocol; parameters are written as Fastify names them. */
export const INGEST_PATHS = {
  metrics_json: '/api/ingest/metrics',
  otlp_metrics: '/api/ingest/otlp/v1/metrics',
  prometheus_write: '/api/ingest/prometheus/write',
  /** Path for deploys of releases, which the deploying tool reports. */
  deploys: '/api/ingest/deploys',
  sentry_envelope: '/api/:projectId/envelope',
  sentry_store: '/api/:projectId/store',
  /** Path for SDKs with a `tunnel`: the DSN in the envelope names the project. */
  sentry_tunnel: '/api/ingest/envelope',
  sentry_security: '/api/:projectId/security',
  /** Other paths for reports of browsers: of a policy, and of errors of the network, which are counted. */
  sentry_csp_report: '/api/:projectId/csp-report',
  sentry_nel: '/api/:projectId/nel',
  /** Paths for memory dumps of native programs, which are counted and not kept. */
  sentry_minidump: '/api/:projectId/minidump',
  sentry_unreal: '/api/:projectId/unreal/:key',
  /** Path for scheduled jobs that are no program with an SDK. */
  sentry_cron: '/api/:projectId/cron/:slug/:key',
} as const;
