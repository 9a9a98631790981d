import { API_PATHS, INGEST_PATHS } from '#kernel/api_paths.ts';

/** Default addresses of senders and agents that were told only the host, and the address here that serves the same. */
const SERVED_AT: ReadonlyMap<string, string> = new Map([
  ['/v1/metrics', `metrics by OTLP go to ${INGEST_PATHS.otlp_metrics}`],
  ['/v1/traces', `metrics by OTLP go to ${INGEST_PATHS.otlp_metrics}; traces are not taken`],
  ['/v1/logs', `metrics by OTLP go to ${INGEST_PATHS.otlp_metrics}; logs are not taken`],
  ['/api/v1/write', `remote write goes to ${INGEST_PATHS.prometheus_write}`],
  ['/api/v1/push', `remote write goes to ${INGEST_PATHS.prometheus_write}`],
  ['/mcp', `MCP is served at ${API_PATHS.mcp}`],
  ['/sse', `MCP is served at ${API_PATHS.mcp}, by Streamable HTTP`],
]);

/** Returns the message for an address where nothing is served, with the right one if the wrong one is a default. */
export function unknownAddress(method: string, url: string): string {
  const [path = ''] = url.split('?');
  const servedAt = SERVED_AT.get(path.replace(/\/$/, ''));
  return `nothing is served at ${method} ${path}${servedAt === undefined ? '' : `: ${servedAt}`}`;
}
