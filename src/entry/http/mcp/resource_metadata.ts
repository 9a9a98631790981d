import type { FastifyInstance } from 'fastify';

import { SCOPES } from '#auth/oauth/metadata.ts';
import { API_PATHS } from '#kernel/api_paths.ts';

export const MCP_PATH = API_PATHS.mcp;
const METADATA_PATH = `/.well-known/oauth-protected-resource${MCP_PATH}`;

/** Returns the URL of the endpoint's metadata, sent with each 401. */
export function resourceMetadataUrl(baseUrl: string): string {
  return baseUrl + METADATA_PATH;
}

/**
 * Mounts the metadata a client needs to obtain a token for the endpoint (RFC 9728). When the product lives below a
 * path, the RFC puts the well-known part before that path: the metadata is served there, too, for proxies that pass it
 * on.
 */
export function mountResourceMetadata(app: FastifyInstance, baseUrl: string): void {
  const prefix = new URL(baseUrl).pathname.replace(/\/+$/, '');
  const metadata = {
    resource: baseUrl + MCP_PATH,
    resource_name: 'Tocsin',
    authorization_servers: [baseUrl],
    scopes_supported: SCOPES,
    bearer_methods_supported: ['header'],
  };
  const paths = new Set([METADATA_PATH, METADATA_PATH.replace(MCP_PATH, prefix + MCP_PATH)]);
  for (const path of paths) app.get(path, () => metadata);
}
