import type { Clock } from '#kernel/time.ts';
import { type Asset, assetOf } from '#entry/http/docs/asset.ts';
import { renderFeed } from '#entry/http/status/feed.ts';
import { renderStatusPage } from '#entry/http/status/page_html.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import { STATUS_PATH } from '#modules/status_pages/decide/publication.ts';
import { readPage } from '#modules/status_pages/read_page.ts';
import { storesOf } from '#modules/stores.ts';
import type { Database } from '#storage/postgres/database.ts';

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
