import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { Check } from 'typebox/value';

import type { HttpContext } from '#entry/http/http_context.ts';
import type { RenderedPage } from '#entry/http/status/page_cache.ts';
import { type Note, renderNote, STATUS_PAGE_HEADERS } from '#entry/http/status/page_html.ts';
import { networkOf } from '#kernel/ip_address.ts';
import { EmailField } from '#modules/accounts/fields.ts';
import { STATUS_PATH } from '#modules/status_pages/decide/publication.ts';
import { subscribe } from '#modules/status_pages/subscribe.ts';
import { subscriberCipherOf, subscriberOfLink } from '#modules/status_pages/subscriber_links.ts';
import type { SubscriberRow } from '#modules/status_pages/store/subscriber_store.ts';
import { storesOf } from '#modules/stores.ts';

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
export async function mountSubscriptions(
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
