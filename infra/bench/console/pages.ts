import type { Browser } from 'playwright-core';

import { duration } from '#infra/bench/figures.ts';
import { type BenchInstallation, printTable } from '#infra/bench/harness.ts';
import { type Cookies, logIn, settled, VIEWPORT, watchTraffic } from './browser.ts';

/** A page, and what it shows once its data is there. */
interface VisitedPage {
  readonly name: string;
  readonly path: string;
  readonly shows: string;
}

/** Weight, requests, time and layout shift of a first visit to each page. */
export async function measurePages(
  browser: Browser,
  installation: BenchInstallation,
  serviceId: string,
): Promise<void> {
  const cookies = await logIn(browser, installation);
  const pages: readonly VisitedPage[] = [
    { name: 'sign-in', path: 'login', shows: 'text=Log in' },
    { name: 'home', path: '', shows: 'text=Your open incidents' },
    { name: 'incidents', path: 'incidents', shows: '[data-row]' },
    { name: 'incident', path: `incidents/incident_${'10'.padStart(26, '0')}`, shows: 'text=Timeline' },
    { name: 'services', path: 'services', shows: '[data-row]' },
    { name: 'service', path: `services/${serviceId}`, shows: 'text=Incoming data' },
    { name: 'on-call', path: 'oncall', shows: 'main h1' },
    { name: 'rules', path: 'rules', shows: 'main h1' },
    { name: 'exceptions', path: 'exceptions', shows: 'main h1' },
    { name: 'metrics', path: 'explore', shows: 'main h1' },
    { name: 'dashboards', path: 'dashboards', shows: 'main h1' },
    { name: 'me', path: 'me', shows: 'main h2' },
    { name: 'members', path: 'settings/members', shows: 'main h1' },
  ];
  const rows: Record<string, string | number>[] = [];
  for (const visited of pages) {
    const sentCookies = visited.name === 'sign-in' ? [] : cookies;
    rows.push(await measurePage(browser, installation.baseUrl, visited, sentCookies));
  }
  printTable(rows);
}

/** Measures a page with an empty cache, as on a first visit. */
async function measurePage(browser: Browser, baseUrl: string, { name, path, shows }: VisitedPage, cookies: Cookies) {
  const context = await browser.newContext({ viewport: VIEWPORT, serviceWorkers: 'block' });
  await context.addCookies(cookies);
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  await page.addInitScript(`
    globalThis.shift = 0;
    globalThis.moved = [];
    new PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries()) {
        globalThis.shift += value;
        globalThis.moved.push(...sources.map(({ node }) => (node?.outerHTML ?? node?.textContent ?? '').slice(0, 120)));
      }
    }).observe({ type: 'layout-shift', buffered: true });`);
  const traffic = await watchTraffic(await context.newCDPSession(page));
  const began = performance.now();
  const answer = await page.goto(`${baseUrl}/${path}`);
  if (answer?.status() !== 200) {
    await context.close();
    return {
      page: name,
      requests: 'not there',
      JS: '',
      CSS: '',
      data: '',
      fonts: '',
      together: '',
      content: '',
      shift: '',
    };
  }
  await page.locator(shows).first().waitFor();
  const content = performance.now() - began;
  await page.locator('main .mantine-Skeleton-root').first().waitFor({ state: 'detached' });
  await settled(page);
  const shift = await page.evaluate<number>('globalThis.shift');
  const moved = await page.evaluate<string[]>('globalThis.moved');
  if (shift > 0) console.log(`  ${name} moved ${moved.slice(0, 3).join(' … ')}`);
  const kilobytes = (...kinds: string[]) => {
    const bytes = traffic.filter(({ kind }) => kinds.includes(kind)).reduce((sum, one) => sum + one.bytes, 0);
    return `${(bytes / 1_000).toFixed(1)} kB`;
  };
  const requests = traffic.length;
  await context.close();
  return {
    page: name,
    requests,
    JS: kilobytes('Script'),
    CSS: kilobytes('Stylesheet'),
    data: kilobytes('Fetch', 'XHR', 'Document'),
    fonts: kilobytes('Font'),
    together: kilobytes('Script', 'Stylesheet', 'Fetch', 'XHR', 'Document', 'Font'),
    content: duration(content),
    shift: shift.toFixed(3),
  };
}
