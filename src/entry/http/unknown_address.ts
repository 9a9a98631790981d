import { API_PATHS, INGEST_PATHS } from '#kernel/api_paths.ts';

/** Where senders and agents ask by default when they were told nothing but the host, and where that is served here. */
const SERVED_AT: ReadonlyMap<string, string> = new Map([
  ['/v1/metrics', `metrics by OTLP go to ${INGEST_PATHS.otlp_metrics}`],
  ['/v1/traces', `metrics by OTLP go to ${INGEST_PATHS.otlp_metrics}; traces are not taken`],
  ['/v1/logs', `metrics by OTLP go to ${INGEST_PATHS.otlp_metrics}; logs are not taken`],
  ['/api/v1/write', `remote write goes to ${INGEST_PATHS.prometheus_write}`],
  ['/api/v1/push', `remote write goes to ${INGEST_PATHS.prometheus_write}`],
  ['/mcp', `MCP is served at ${API_PATHS.mcp}`],
  ['/sse', `MCP is served at ${API_PATHS.mcp}, by Streamable HTTP`],
]);

/** What is said where nothing is served; with the right address where the wrong one is a default. */
export function unknownAddress(method: string, url: string): string {
  const [path = ''] = url.split('?');
  const servedAt = SERVED_AT.get(path.replace(/\/$/, ''));
  return `nothing is served at ${method} ${path}${servedAt === undefined ? '' : `: ${servedAt}`}`;
}
