import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

import type { FastifyReply, FastifyRequest } from 'fastify';

export interface Asset {
  readonly etag: string;
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
}

export async function readAsset(file: string): Promise<Asset> {
  return await assetOf(await readFile(file));
}

export async function assetOf(bytes: Buffer): Promise<Asset> {
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  return { etag, bytes, gzipped: await promisify(gzip)(bytes) };
}

export async function sendAsset(
  request: FastifyRequest,
  reply: FastifyReply,
  { etag, bytes, gzipped }: Asset,
  type: string,
  cacheControl = 'no-cache',
): Promise<FastifyReply> {
  void reply
    .type(type)
    .headers({ etag, 'cache-control': cacheControl, vary: 'accept-encoding', 'x-content-type-options': 'nosniff' });
  if (hasVersion(request, etag) && reply.statusCode === 200) return reply.code(304).send();
  const isPacked = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  if (isPacked) void reply.header('content-encoding', 'gzip');
  return reply.send(isPacked ? gzipped : bytes);
}

/**
 * Whether the client says that it has this version already. Compared weakly, as RFC 9110 (13.1.2) wants it: a proxy that
 * compresses answers makes a tag weak.
 */
export function hasVersion({ headers }: FastifyRequest, etag: string): boolean {
  const tags = headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? [];
  return tags.includes(etag) || tags.includes('*');
}
