import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** The page may load its own files and ask its own server, and nothing else. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const VIEWER = path.dirname(fileURLToPath(import.meta.resolve('swagger-ui-dist/package.json')));
const OURS = path.join(import.meta.dirname, 'reference');

const ASSETS = {
  'swagger-ui-bundle.js': { folder: VIEWER, type: 'text/javascript; charset=utf-8' },
  'swagger-ui.css': { folder: VIEWER, type: 'text/css; charset=utf-8' },
  'reference.js': { folder: OURS, type: 'text/javascript; charset=utf-8' },
  'reference.css': { folder: OURS, type: 'text/css; charset=utf-8' },
} as const;

/** A file as it is sent; read and packed when it is first asked for. */
interface Asset {
  readonly etag: string;
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
}

/** `/docs`: the reference as a page, from `/api/openapi.json`. Every file comes from here. */
export function mountDocs(app: FastifyInstance): void {
  app.get('/docs', async (request, reply) => {
    void reply.headers({
      'content-security-policy': POLICY,
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    });
    return await send(request, reply, await page(), 'text/html; charset=utf-8');
  });
  app.get('/docs/', async (_request, reply) => reply.redirect('../docs', 308));
  const page = once(() => readAsset(path.join(OURS, 'page.html')));

  for (const [name, { folder, type }] of Object.entries(ASSETS)) {
    const asset = once(() => readAsset(path.join(folder, name)));
    app.get(`/docs/${name}`, async (request, reply) => await send(request, reply, await asset(), type));
  }
}

async function readAsset(file: string): Promise<Asset> {
  const bytes = await readFile(file);
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  return { etag, bytes, gzipped: await promisify(gzip)(bytes) };
}

async function send(
  request: FastifyRequest,
  reply: FastifyReply,
  { etag, bytes, gzipped }: Asset,
  type: string,
): Promise<FastifyReply> {
  void reply.type(type).headers({
    etag,
    'cache-control': 'no-cache',
    vary: 'accept-encoding',
    'x-content-type-options': 'nosniff',
  });
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  const isPacked = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
  if (isPacked) void reply.header('content-encoding', 'gzip');
  return reply.send(isPacked ? gzipped : bytes);
}

/** The work is done when it is first asked for; one that failed is tried again. */
function once<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let done: Promise<Result> | null = null;
  return () =>
    (done ??= work().catch((error: unknown) => {
      done = null;
      throw error;
    }));
}
