import { randomBytes } from 'node:crypto';
import path from 'node:path';

import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { PAGES } from '#modules/pages/decide/pages.ts';
import { compressAnswers } from '#entry/http/compress_answers.ts';
import type { FindDataOfPage } from '#entry/http/console/initial_data.ts';
import { CONSOLE_FOLDER, consolePages, routeOfPage } from '#entry/http/console_build.ts';

/** Routes of the pages of the web application, as Fastify and `/metrics` name them: `/incidents/:id`. */
export const PAGE_ROUTES = [...Object.values(PAGES), `${PAGES.settings}/*`].map(routeOfPage);

/** Routes of pages for people who are not signed in. */
const OUTSIDE: ReadonlySet<string> = new Set(
  [PAGES.signIn, PAGES.askForReset, PAGES.resetPassword, PAGES.invitation].map(routeOfPage),
);

/** Files that browsers know by a fixed name. */
const FILES = [
  'sw.js',
  'manifest.webmanifest',
  'favicon.svg',
  'icon-192.png',
  'icon-512.png',
  'icon-maskable-512.png',
  'badge-96.png',
];

const NOTHING = { session: null, first: null, frame: null };

const NONCE_BYTES = 16;
const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

/** Returns the policy of a page, which runs and shows only what this server sends, and talks to no other server. */
const policyWith = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'self' 'nonce-${nonce}'`,
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');

/** Policy of the service worker, that of its file: it requests what the pages request, and runs nothing else. */
const WORKER_POLICY = "default-src 'none'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'";

const PAGE_HEADERS = {
  'cache-control': 'private, no-cache',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=(), payment=(), usb=()',
};

/** Page shown while the console is being built; it reloads itself until the build is there. */
const PREPARING = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="2"><title>Tocsin</title></head><body><h1>The console is being prepared</h1>
<p>This takes some seconds after an update; the page comes by itself. If it does not: <code>npm ci</code> builds the console and says
what is wrong. Everything else works meanwhile, replies to pages too.</p></body></html>`;

export interface ConsoleOptions {
  /** Public address; the console lives at its path. */
  readonly baseUrl: string;
  /** Folder of another build; for tests. */
  readonly folder?: string;
}

/** Answers a request that no route takes with the application, if it asks for a page; returns whether it did. */
export type AnswerUnknownPage = (request: FastifyRequest, reply: FastifyReply) => Promise<boolean>;

/**
 * Mounts the web application: one page at each of its addresses, with its own nonce, and files whose names change with
 * their content, so that browsers may cache them.
 */
export async function mountConsolePages(
  app: FastifyInstance,
  { baseUrl, folder = CONSOLE_FOLDER }: ConsoleOptions,
  findData: FindDataOfPage,
): Promise<AnswerUnknownPage> {
  const readPage = consolePages(`${new URL(baseUrl).pathname.replace(/\/+$/, '')}/`, folder);

  const sendPage = async (request: FastifyRequest, reply: FastifyReply, status: number): Promise<FastifyReply> => {
    const page = await readPage();
    const route = routeShown(request);
    const { session, first, frame } = OUTSIDE.has(route) ? NOTHING : await findData(request, reply, route);
    const nonce = randomBytes(NONCE_BYTES).toString('base64url');
    void reply.headers({ ...PAGE_HEADERS, 'content-security-policy': policyWith(nonce) });
    // Data of incidents must not be stored on a disk.
    if (first !== null) void reply.header('cache-control', 'no-store');
    void reply.type('text/html; charset=utf-8');
    if (page === null) return reply.code(503).header('retry-after', '2').send(PREPARING);
    return reply.code(status).send(page.with({ nonce, route, session, first, frame }));
  };

  await app.register(async (pages) => {
    await compressAnswers(pages);
    for (const url of PAGE_ROUTES) pages.get(url, async (request, reply) => await sendPage(request, reply, 200));
  });

  await app.register(fastifyStatic, {
    root: path.join(folder, 'assets'),
    prefix: '/assets/',
    preCompressed: true,
    immutable: true,
    maxAge: YEAR_MS,
    index: false,
    setHeaders: (reply) => void reply.header('x-content-type-options', 'nosniff'),
  });
  for (const name of FILES) {
    app.get(`/${name}`, (_request, reply) => {
      void reply.headers({ 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' });
      if (name === 'sw.js') void reply.header('content-security-policy', WORKER_POLICY);
      return reply.sendFile(name, folder, { cacheControl: false });
    });
  }

  return async (request, reply) => {
    const wantsPage = request.method === 'GET' && /\btext\/html\b/.test(request.headers.accept ?? '');
    if (!wantsPage || /^\/(?:api|assets|\.well-known)(?:\/|$)/.test(request.url)) return false;
    await sendPage(request, reply, 404);
    return true;
  };
}

/** Returns the route of `PAGES`, or of a page of the settings, for this address; empty if there is none. */
function routeShown({ routeOptions: { url = '' }, url: asked }: FastifyRequest): string {
  return url.endsWith('/*') ? (asked.split('?', 1)[0] ?? '') : url;
}
