import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { memberCallerOf, sessionCookieOf } from '#auth/sessions.ts';
import { authenticateRequest } from '#entry/http/console/browser.ts';
import { type Asset, sendAsset } from '#entry/http/docs/asset.ts';
import type { HttpContext } from '#entry/http/http_context.ts';
import { FRESH_SECONDS, type RenderedPage, StatusPageCache } from '#entry/http/status/page_cache.ts';
import { renderNoPage, STATUS_PAGE_HEADERS } from '#entry/http/status/page_html.ts';
import { mountSubscriptions } from '#entry/http/status/subscriptions.ts';
import { AppError } from '#kernel/errors.ts';
import { PAGES } from '#modules/pages/decide/pages.ts';
import { isSlug, STATUS_PATH } from '#modules/status_pages/decide/publication.ts';
import { storesOf } from '#modules/stores.ts';

const HTML = 'text/html; charset=utf-8';
const ATOM = 'application/atom+xml; charset=utf-8';

/** Mounts status pages and their feeds. A public page costs no query per reader. */
export async function mountStatusPages(app: FastifyInstance, context: HttpContext): Promise<void> {
  const { baseUrl } = context.config;
  const cookie = sessionCookieOf(baseUrl);
  const pages = new StatusPageCache({ ...context, baseUrl, hasMail: context.mail !== null });
  const noPage = renderNoPage(`${baseUrl}${PAGES.signIn}`);

  const mayRead = async ({ isPublic, orgId }: RenderedPage, request: FastifyRequest): Promise<boolean> => {
    if (isPublic) return true;
    try {
      const session = await authenticateRequest({ context, cookie }, request);
      await memberCallerOf(
        storesOf(context.db.session()),
        session,
        { orgId, address: request.ip },
        context.clock.now(),
      );
      return true;
    } catch (error) {
      if (error instanceof AppError && error.status < 500) return false;
      throw error;
    }
  };

  const findPage = async (request: FastifyRequest<{ Params: { slug: string } }>): Promise<RenderedPage | null> => {
    const { slug } = request.params;
    const page = isSlug(slug) ? await pages.find(slug) : null;
    return page !== null && (await mayRead(page, request)) ? page : null;
  };

  const send = async (
    request: FastifyRequest<{ Params: { slug: string } }>,
    reply: FastifyReply,
    { type, part }: { readonly type: string; readonly part: (page: RenderedPage) => Asset },
  ): Promise<FastifyReply> => {
    const page = await findPage(request);
    void reply.headers(STATUS_PAGE_HEADERS);
    if (page === null) {
      return reply.code(404).header('cache-control', 'no-store').type(HTML).send(noPage);
    }
    const cacheControl = page.isPublic ? `public, max-age=${FRESH_SECONDS}` : 'private, no-cache';
    return await sendAsset(request, reply, part(page), type, cacheControl);
  };

  app.get<{ Params: { slug: string } }>(
    `${STATUS_PATH}/:slug`,
    async (request, reply) => await send(request, reply, { type: HTML, part: ({ html }) => html }),
  );
  app.get<{ Params: { slug: string } }>(
    `${STATUS_PATH}/:slug/feed.atom`,
    async (request, reply) => await send(request, reply, { type: ATOM, part: ({ feed }) => feed }),
  );
  await mountSubscriptions(app, context, { findPage, noPage });
}
