import path from 'node:path';
import { fileURLToPath } from 'node:url';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { type Asset, assetOf, readAsset, sendAsset } from '#entry/http/docs/asset.ts';
import type { GuidePages } from '#entry/http/docs/guide_pages.ts';
import { once } from '#kernel/promises.ts';

/** Policy of the pages: a page may load its own files and call its own server, and nothing else. */
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
const OURS = path.join(import.meta.dirname, 'docs/reference');

const CSS = 'text/css; charset=utf-8';
const HTML = 'text/html; charset=utf-8';
const JAVASCRIPT = 'text/javascript; charset=utf-8';

const FILES = {
  'swagger-ui-bundle.js': { folder: VIEWER, type: JAVASCRIPT },
  'swagger-ui.css': { folder: VIEWER, type: CSS },
  'reference.js': { folder: OURS, type: JAVASCRIPT },
  'reference.css': { folder: OURS, type: CSS },
  'frame.js': { folder: OURS, type: JAVASCRIPT },
  'frame.css': { folder: OURS, type: CSS },
  'guides.css': { folder: OURS, type: CSS },
} as const;

/**
 * Mounts `/docs`: the API reference, made in the browser from `/api/openapi.json`; below it the guides of `src/docs`,
 * rendered when the first one is requested. Every file comes from this server.
 */
export function mountDocs(app: FastifyInstance): void {
  const reference = once(() => readAsset(path.join(OURS, 'page.html')));
  app.get('/docs', async (request, reply) => await sendPage(request, reply, await reference()));
  app.get('/docs/', async (_request, reply) => reply.redirect('../docs', 308));

  for (const [name, { folder, type }] of Object.entries(FILES)) {
    const file = once(() => readAsset(path.join(folder, name)));
    app.get(`/docs/${name}`, async (request, reply) => await sendAsset(request, reply, await file(), type));
  }
  mountGuides(app);
}

function mountGuides(app: FastifyInstance): void {
  // The guides, and the code that renders them, are loaded when somebody opens them.
  const pages = once(async (): Promise<GuidePages> => {
    const { renderGuides } = await import('#entry/http/docs/guide_pages.ts');
    return await renderGuides();
  });
  const assets = new Map<string, Asset>();
  app.get<{ Params: { '*': string } }>('/docs/*', async (request, reply) => {
    const { findPage, findImage, notFoundPage } = await pages();
    const name = request.params['*'];
    const image = findImage(name);
    const content = image ?? findPage(name);
    if (content === null) {
      return await sendPage(request, reply.code(404), await assetOf(Buffer.from(notFoundPage(name))));
    }
    const asset = assets.get(name) ?? (await assetOf(Buffer.from(content)));
    assets.set(name, asset);
    return image === null ? await sendPage(request, reply, asset) : await sendAsset(request, reply, asset, 'image/png');
  });
}

async function sendPage(request: FastifyRequest, reply: FastifyReply, page: Asset): Promise<FastifyReply> {
  void reply.headers({
    'content-security-policy': POLICY,
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  });
  return await sendAsset(request, reply, page, HTML);
}
