import formbody from '@fastify/formbody';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { Check } from 'typebox/value';

import { memberCallerOf, sessionCookieOf } from '#auth/sessions.ts';
import { authenticateRequest } from '#entry/http/console/browser.ts';
import { type Asset, assetOf, sendAsset } from '#entry/http/docs/asset.ts';
import type { HttpContext } from '#entry/http/http_context.ts';
import {
  type Note,
  renderNoPage,
  renderNote,
  renderStatusPage,
  STATUS_PAGE_HEADERS,
  timeText,
} from '#entry/http/status/page_html.ts';
import { AppError, messageOf } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { networkOf } from '#kernel/ip_address.ts';
import type { Log } from '#kernel/log.ts';
import { type Clock, isAtOrBefore, type Temporal, toTimestamp } from '#kernel/time.ts';
import { EmailField } from '#modules/accounts/view.ts';
import { PAGES } from '#modules/pages/decide/pages.ts';
import type { PageContent, PublishedIncident } from '#modules/status_pages/decide/page_state.ts';
import { isSlug, STAGE_TEXTS, STATUS_PATH } from '#modules/status_pages/decide/publication.ts';
import { readPage } from '#modules/status_pages/view.ts';
import type { SubscriberRow } from '#modules/status_pages/store/subscriber_store.ts';
import { subscribe, subscriberCipherOf, subscriberOfLink } from '#modules/status_pages/subscribers.ts';
import { storesOf } from '#modules/stores.ts';
import { escapeHtml, xmlCharacters } from '#notify/texts/html.ts';
import type { Database } from '#storage/postgres/database.ts';

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
    if (page === null) return reply.code(404).header('cache-control', 'no-store').type(HTML).send(noPage);
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

const ENTRIES_MAX = 50;

interface FeedAt {
  readonly address: string;
  /** Time of the feed before anything was published. */
  readonly now: Temporal.Instant;
}

/** Renders the feed of a page (RFC 4287): an entry for each published incident, which changes with each update. */
function renderFeed({ title, publications }: PageContent, { address, now }: FeedAt): string {
  const shown = publications.slice(0, ENTRIES_MAX);
  const changes = shown.map((incident) => changedAt(incident).epochMilliseconds);
  const updated = new Date(Math.max(now.epochMilliseconds, ...changes)).toISOString();
  const url = xml(address);
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><id>${url}</id><title>${xml(title)}</title><updated>${updated}</updated><author><name>${xml(title)}</name></author><link rel="self" type="application/atom+xml" href="${url}/feed.atom"/><link rel="alternate" type="text/html" href="${url}"/>
${shown.map((incident) => entryOf(incident, url)).join('\n')}
</feed>`;
}

function entryOf(incident: PublishedIncident, url: string): string {
  const { id, title, updates, beganAt } = incident;
  const html = updates
    .map(
      ({ stage, body, at }) =>
        `<p><strong>${STAGE_TEXTS[stage]}</strong>, ${timeText(at)}</p><p>${escapeHtml(body).replaceAll('\n', '<br>')}</p>`,
    )
    .join('');
  return `<entry><id>${url}#${id}</id><title>${xml(title)}</title><published>${toTimestamp(beganAt)}</published><updated>${toTimestamp(changedAt(incident))}</updated><link rel="alternate" type="text/html" href="${url}#${id}"/><content type="html">${xml(html)}</content></entry>`;
}

function changedAt({ beganAt, endedAt, updates }: PublishedIncident): Temporal.Instant {
  const times = [endedAt, ...updates.map(({ at }) => at)];
  return times.reduce<Temporal.Instant>((last, at) => (at !== null && isAtOrBefore(last, at) ? at : last), beganAt);
}

/** Escapes a text for XML. */
function xml(text: string): string {
  return escapeHtml(xmlCharacters(text));
}

/** Duration for which a process asks nothing about a page. */
const FRESH_SECONDS = 10;

/** Limit on the addresses that a process remembers, those of no page too. */
const ADDRESSES_MAX = 1_000;

/** A page as it is sent to every reader. */
interface RenderedPage {
  readonly id: Id<'statuspage'>;
  readonly orgId: Id<'org'>;
  readonly isPublic: boolean;
  readonly title: string;
  readonly html: Asset;
  readonly feed: Asset;
}

interface Remembered {
  /** Null where there is no page. */
  page: RenderedPage | null;
  version: string;
  checkedAt: number;
  clockAt: number;
  checking: Promise<RenderedPage | null> | null;
}

interface PageCacheRuntime {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly baseUrl: string;
  /** Whether readers may subscribe by mail. */
  readonly hasMail: boolean;
}

/**
 * Rendered status pages. Within ten seconds a page costs at most one small query for its version, however many readers
 * there are, and it is read and rendered again only when that has changed. While the database is away, readers get the
 * page as it was last.
 */
class StatusPageCache {
  readonly #runtime: PageCacheRuntime;
  readonly #remembered = new Map<string, Remembered>();

  constructor(runtime: PageCacheRuntime) {
    this.#runtime = runtime;
  }

  /** Finds the page at an address. Throws what the database throws if the page was never read. */
  async find(slug: string): Promise<RenderedPage | null> {
    const remembered = this.#remembered.get(slug);
    if (remembered !== undefined && this.#isFresh(remembered)) return remembered.page;
    const entry = remembered ?? { page: null, version: '', checkedAt: -Infinity, clockAt: 0, checking: null };
    this.#remembered.delete(slug);
    this.#remembered.set(slug, entry);
    if (this.#remembered.size > ADDRESSES_MAX) this.#forgetOldest(slug);
    entry.checking ??= this.#check(slug, entry).finally(() => (entry.checking = null));
    return await entry.checking;
  }

  /** Forgets the address that nobody has asked for longest: one of no page first, however many strangers make up. */
  #forgetOldest(except: string): void {
    const others = [...this.#remembered].filter(([slug]) => slug !== except);
    const [oldest] = others.find(([, { page }]) => page === null) ?? others[0] ?? [];
    if (oldest !== undefined) this.#remembered.delete(oldest);
  }

  #isFresh({ checkedAt, clockAt }: Remembered): boolean {
    const clockMs = this.#runtime.clock.now().epochMilliseconds - clockAt;
    return performance.now() - checkedAt < FRESH_SECONDS * 1_000 && Math.abs(clockMs) < FRESH_SECONDS * 1_000;
  }

  async #check(slug: string, entry: Remembered): Promise<RenderedPage | null> {
    const { db, clock, log, baseUrl, hasMail } = this.#runtime;
    const now = clock.now();
    const today = now.toString().slice(0, 'YYYY-MM-DD'.length);
    try {
      const stores = storesOf(db.session());
      const current = await stores.statusPages.findVersion(slug);
      const version = current === null ? '' : `${today} ${current.version}`;
      if (current === null) entry.page = null;
      else if (version !== entry.version) {
        const content = await readPage(stores, current.page, now);
        const address = `${baseUrl}${STATUS_PATH}/${slug}`;
        entry.page = {
          id: current.page.id,
          orgId: current.page.orgId,
          isPublic: current.page.isPublic,
          title: content.title,
          html: await assetOf(Buffer.from(renderStatusPage(content, { address, slug, hasMail, now }))),
          feed: await assetOf(Buffer.from(renderFeed(content, { address, now: current.page.createdAt }))),
        };
      }
      entry.version = version;
    } catch (error) {
      if (entry.page === null) throw error;
      log.warn({ err: messageOf(error) }, 'a status page could not be read; readers get it as it was');
    }
    entry.checkedAt = performance.now();
    entry.clockAt = now.epochMilliseconds;
    return entry.page;
  }
}
