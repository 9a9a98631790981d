import { type Asset, assetOf } from '#entry/http/docs/asset.ts';
import { renderStatusPage, timeText } from '#entry/http/status/page_html.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import { type Clock, type Temporal, toTimestamp } from '#kernel/time.ts';
import type { PageContent, PublishedIncident } from '#modules/status_pages/decide/page_state.ts';
import { STAGE_TEXTS, STATUS_PATH } from '#modules/status_pages/decide/publication.ts';
import { readPage } from '#modules/status_pages/read_page.ts';
import { storesOf } from '#modules/stores.ts';
import { escapeHtml } from '#notify/texts/html.ts';
import type { Database } from '#storage/postgres/database.ts';

const ENTRIES_MAX = 50;

interface FeedAt {
  /** Address of the page. */
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
  const [newest] = updates;
  return endedAt ?? newest?.at ?? beganAt;
}

/** Escapes a text for XML, which has no place for most control characters. */
function xml(text: string): string {
  return escapeHtml(
    text.toWellFormed().replaceAll(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, ''),
  );
}

/** Duration for which a process asks nothing about a page. */
export const FRESH_SECONDS = 10;

/** Limit on the addresses that a process remembers, those of no page too. */
const ADDRESSES_MAX = 1_000;

/** A page as it is sent to every reader. */
export interface RenderedPage {
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
export class StatusPageCache {
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
