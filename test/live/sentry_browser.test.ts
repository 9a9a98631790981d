import { existsSync } from 'node:fs';

import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { type LiveWorld, liveWorld, overQuota } from '#test/live/live_world.ts';
import { type ShopSite, startShopSite } from '#test/live/shop_site.ts';
import { canRunWith } from '#test/kit/programs/debian_packages.ts';

const CHROMIUM = '/usr/bin/chromium';
const canRun = canRunWith('chromium', existsSync(CHROMIUM));

type Service = Awaited<ReturnType<LiveWorld['given']['service']>>;

describe.skipIf(!canRun)('@sentry/browser 11 in Chromium, on a page of another origin', () => {
  let w: LiveWorld;
  let site: ShopSite;
  let browser: Browser;
  beforeAll(async () => {
    [w, site, browser] = await Promise.all([
      liveWorld({ keepOpen: true }),
      startShopSite(),
      chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] }),
    ]);
  });
  afterAll(async () => {
    await browser.close();
    await site.close();
    await w.close();
  });

  /** Opens the page and returns how its requests were answered, once it has told its story. */
  async function tell({ dsn }: Service, story: 'report' | 'ask' | 'insist' | 'leave') {
    const before = w.arrivals.length;
    const page = await browser.newPage();
    await page.goto(`${site.url}/?story=${story}&dsn=${encodeURIComponent(w.reachable(dsn))}`, { waitUntil: 'commit' });
    if (story === 'leave') await page.waitForURL('about:blank');
    else await page.waitForFunction("document.title === 'told'");
    await page.close();
    return w.arrivals.slice(before);
  }

  async function wallOf({ serviceId }: Service) {
    await w.settle();
    const { groups } = await w.expectOk('list_exception_groups', { serviceId });
    return groups.toSorted((a: { title: string }, b: { title: string }) => (a.title < b.title ? -1 : 1));
  }

  test('reports what happens to customers, and it is named', async () => {
    const service = await w.given.service();
    const arrivals = await tell(service, 'report');
    expect(new Set(arrivals.map(({ method, status }) => `${method} ${status}`))).toEqual(new Set(['POST 200']));
    const groups = await wallOf(service);
    const lines = groups.map(({ eventCount, severity, title, culprit }: Record<string, unknown>) => [
      eventCount,
      severity,
      title,
      culprit,
    ]);
    expect(lines).toEqual([
      [2, 'error', 'Error: order of <*> beans was not charged', 'chargeOrder (shop.js)'],
      [1, 'error', 'Error: the cup is full', 'pour (shop.js)'],
      [1, 'error', 'Error: the machine is on fire', 'shop.js'],
      [1, 'error', 'TypeError: Failed to fetch (localhost:9)', 'apply (shop.js)'],
      [1, 'error', 'TypeError: nobody awaited the beans', 'report (shop.js)'],
      [1, 'error', 'UnhandledRejection: a text that was rejected', null],
      [1, 'warning', 'the grinder is slow', 'report (shop.js)'],
    ]);
    const group = await w.expectOk('get_exception_group', { groupId: groups[0].groupId });
    expect(group).toMatchObject({ userCount: 1, triage: { isHandled: true, environments: [{ value: 'staging' }] } });
    const [event] = group.recentEvents;
    expect(event).toMatchObject({
      platform: 'javascript',
      release: 'shop@1.4.2',
      user: { id: '42', email: 'bob@shop.test' },
      tags: { region: 'eu' },
      exceptions: [{ type: 'RangeError' }, { type: 'Error' }],
      request: { url: expect.stringContaining(site.url) },
      sdk: { name: 'sentry.javascript.browser', version: '11.12.0' },
    });
    expect(event.breadcrumbs).toContainEqual(
      expect.objectContaining({ message: 'order opened', data: { password: '[filtered]' } }),
    );
    const onFire = await w.expectOk('get_exception_group', { groupId: groups[2].groupId });
    expect(onFire.triage).toMatchObject({ isHandled: false });
  });

  test('asks beforehand where it must, and is let through', async () => {
    const service = await w.given.service();
    const arrivals = await tell(service, 'ask');
    expect(new Set(arrivals.map(({ method, status }) => `${method} ${status}`))).toEqual(
      new Set(['OPTIONS 204', 'POST 200']),
    );
    expect(await wallOf(service)).toHaveLength(7);
  });

  test('gets through what it reports while the page is being left', async () => {
    const service = await w.given.service();
    await tell(service, 'leave');
    await expect.poll(() => wallOf(service)).toHaveLength(1);
  });

  test.each([429, 401])('reads across origins that it is refused with %i, and is quiet', async (status) => {
    const service = await w.given.service();
    if (status === 429) w.breakQueue(overQuota(60));
    else {
      await w.expectOk('rotate_ingest_key', { serviceId: service.serviceId });
      w.clock.advance({ seconds: 2 });
    }
    const statuses = (await tell(service, 'insist')).map((arrival) => arrival.status);
    w.breakQueue(null);
    expect(statuses).toContain(status);
    // The session that a page begins and its first error may be under way at once, and the session's end.
    expect(statuses.filter((answered) => answered === status).length).toBeLessThanOrEqual(3);
    expect(statuses.length, 'reports of what was not sent may follow').toBeLessThanOrEqual(20);
  });
});
