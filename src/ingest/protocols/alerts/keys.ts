import type { AlertRequest } from '#ingest/protocols/alerts/alert_protocol.ts';

/** The alert key as Bearer token, password of Basic, GenieKey or X-Api-Key; null without any. */
export function keyInHeaders({ headers }: Pick<AlertRequest, 'headers'>): string | null {
  const authorization = single(headers['authorization']).trim();
  const token = /^(?:Bearer|GenieKey|Token)\s+(\S+)$/i.exec(authorization)?.[1];
  if (token !== undefined) return token;
  const basic = /^Basic\s+([A-Za-z0-9+/_=-]+)$/i.exec(authorization)?.[1];
  if (basic !== undefined) {
    const pair = Buffer.from(basic, 'base64').toString('utf8');
    return pair.slice(pair.indexOf(':') + 1);
  }
  const apiKey = single(headers['x-api-key']).trim();
  return apiKey === '' ? null : apiKey;
}

/** The key in the address, or else in the headers. */
export function keyInPathOrHeaders(request: AlertRequest): string | null {
  return request.path['key'] ?? keyInHeaders(request);
}

function single(header: string | readonly string[] | undefined): string {
  return (typeof header === 'object' ? header[0] : header) ?? '';
}
