import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { Check } from 'typebox/value';

import { memberCallerOf, sessionCookieOf } from '#auth/sessions.ts';
import { authenticateRequest } from '#entry/http/console/browser.ts';
import { type Asset, sendAsset } from '#entry/http/docs/asset.ts';
import type { HttpContext } from '#entry/http/http_context.ts';
import { FRESH_SECONDS, type RenderedPage, StatusPageCache } from '#entry/http/status/page_cache.ts';
import { type Note, renderNoPage, renderNote, STATUS_PAGE_HEADERS } from '#entry/http/status/page_html.ts';
import { AppError } from '#kernel/errors.ts';
import { networkOf } from '#kernel/ip_address.ts';
import { EmailField } from '#modules/accounts/view.ts';
import { PAGES } from '#modules/pages/decide/pages.ts';
import { isSlug, STATUS_PATH } from '#modules/status_pages/decide/publication.ts';
import type { SubscriberRow } from '#modules/status_pages/store/subscriber_store.ts';
import { subscribe, subscriberCipherOf, subscriberOfLink } from '#modules/status_pages/subscribers.ts';
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

const BODY_BYTES_MAX = 2_048;

/** Subscriptions that one network may ask for at once, and in an hour. */
const ASKS = { burst: 10, perSecond: 10 / 3_600 };

/** Mail address, which in a form may have characters that no text of the database has. */
const ReaderAddress = Type.Intersect([EmailField, Type.String({ pattern: String.raw`^[^\u0000-\u001f\u007f]+$` })]);

const Asked = Type.Object({ email: ReaderAddress });

interface Part {
  /** Finds the page at the address of a request, if whoever asks may read it. */
  readonly findPage: (request: FastifyRequest<{ Params: { slug: string } }>) => Promise<RenderedPage | null>;
  /** Page for an address that shows nothing to whoever asks. */
  readonly noPage: string;
}

const GONE: Note = {
  status: 404,
  heading: 'This link is not valid.',
  text: 'It may have been cut off, or you have unsubscribed already.',
};

/**
 * Mounts subscription by mail: asking, confirming, and unsubscribing. A link changes nothing until its button is
 * pressed, because programs that check mail open links; the button posts, as mail programs do (RFC 8058).
 */
async function mountSubscriptions(
  root: FastifyInstance,
  context: HttpContext,
  { findPage, noPage }: Part,
): Promise<void> {
  const cipher = subscriberCipherOf(context.config.appSecret);
  const asks = context.limits.openLimit('status_subscriptions', ASKS);

  const findSubscriber = async (purpose: 'confirm' | 'unsubscribe', token: string): Promise<SubscriberRow | null> => {
    const id = subscriberOfLink(cipher, purpose, token);
    return id === null ? null : await storesOf(context.db.session()).subscribers.find(id);
  };

  await root.register(async (app) => {
    await app.register(formbody, { bodyLimit: BODY_BYTES_MAX });

    app.post<{ Params: { slug: string } }>(`${STATUS_PATH}/:slug/subscribe`, async (request, reply) => {
      const page = await findPage(request);
      if (page === null || context.mail === null) return sendPage(reply, 404, noPage);
      const { body } = request;
      if (!Check(Asked, body)) {
        return sendNote(reply, { status: 400, heading: 'This is no mail address.', text: 'Go back and correct it.' });
      }
      const seconds = await asks.take(networkOf(request.ip), 1);
      if (seconds > 0) {
        void reply.header('retry-after', String(Math.ceil(seconds)));
        return sendNote(reply, { status: 429, heading: 'Too many tries.', text: 'Try again in some minutes.' });
      }
      const hasRoom = await subscribe(context.actions, page, body.email);
      return sendNote(
        reply,
        hasRoom
          ? {
              status: 200,
              heading: 'Look into your mailbox.',
              text: 'A mail with a link is on its way, unless this address has confirmed already. Updates come once you confirm.',
            }
          : { status: 409, heading: 'This page has no room for more subscribers.', text: 'Use its feed instead.' },
      );
    });

    for (const [purpose, heading, button] of [
      ['confirm', 'Updates by mail', 'Confirm'],
      ['unsubscribe', 'Unsubscribe from updates', 'Unsubscribe'],
    ] as const) {
      const url = `${STATUS_PATH}/:slug/${purpose}/:token`;
      app.get<{ Params: { token: string } }>(url, async (request, reply) => {
        const subscriber = await findSubscriber(purpose, request.params.token);
        const note = { status: 200, heading, text: subscriber?.email ?? '', button };
        return sendNote(reply, subscriber === null ? GONE : note);
      });
      app.post<{ Params: { token: string } }>(url, async (request, reply) => {
        const subscriber = await findSubscriber(purpose, request.params.token);
        if (subscriber === null) return sendNote(reply, GONE);
        const { subscribers } = storesOf(context.db.session());
        if (purpose === 'confirm') await subscribers.confirm(subscriber.id, context.clock.now());
        else await subscribers.remove(subscriber.id);
        const done = purpose === 'confirm' ? 'You get updates by mail from now on.' : 'You get no more updates.';
        return sendNote(reply, { status: 200, heading: done, text: subscriber.email });
      });
    }
  });
}

function sendNote(reply: FastifyReply, note: Note): FastifyReply {
  return sendPage(reply, note.status, renderNote(note));
}

function sendPage(reply: FastifyReply, status: number, html: string): FastifyReply {
  return reply
    .code(status)
    .headers({ ...STATUS_PAGE_HEADERS, 'cache-control': 'no-store', 'x-robots-tag': 'noindex, nofollow' })
    .type('text/html; charset=utf-8')
    .send(html);
}
