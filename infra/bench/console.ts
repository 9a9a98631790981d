import { existsSync } from 'node:fs';

import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core';

import { newId } from '#kernel/ids.ts';

import { openRunningDatabase } from './paging/fixture.ts';
import { count, duration, megabytes, spreadCells, spreadOf } from './figures.ts';
import { type Bench, type BenchInstallation, printInputs, printTable, withInstallation } from './harness.ts';

const INCIDENTS = 10_000;
const SERVICES = 500;
const KEYS = 30;
/** One a minute, as on a busy day. */
const CHANGES = 1_440;
const VIEWPORT = { width: 1440, height: 900 };
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((file) =>
  existsSync(file),
);

/** A page, and what it shows once its data is there. */
interface Room {
  readonly name: string;
  readonly path: string;
  readonly shows: string;
}

export const consolePages: Bench = {
  name: 'console',
  about:
    'the console in Chromium: weight and requests of a first visit (goal: 250 kB of JS, CSS and data, 15 requests), layout shift, keys, memory',
  run: () =>
    withInstallation(async (installation) => {
      if (CHROMIUM === undefined) {
        console.log('  skipped: there is no Chromium\n');
        return;
      }
      printInputs({ incidents: `${count(INCIDENTS)}, every tenth open`, services: SERVICES, changes: CHANGES });
      const serviceId = await fill(installation);
      const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
      try {
        await measureRooms(browser, installation, serviceId);
        await measureKeys(browser, installation);
        await measureMemory(browser, installation, serviceId);
      } finally {
        await browser.close();
      }
    }),
};

async function measureRooms(browser: Browser, installation: BenchInstallation, serviceId: string): Promise<void> {
  const cookies = await logIn(browser, installation);
  const rooms: readonly Room[] = [
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
  ];
  const rows: Record<string, string | number>[] = [];
  for (const room of rooms) {
    const given = room.name === 'sign-in' ? [] : cookies;
    rows.push(await measureRoom(browser, installation.baseUrl, room, given));
  }
  printTable(rows);
}

type Cookies = Parameters<Awaited<ReturnType<Browser['newContext']>>['addCookies']>[0];

/** With an empty cache, as on a first visit. */
async function measureRoom(browser: Browser, baseUrl: string, { name, path, shows }: Room, cookies: Cookies) {
  const context = await browser.newContext({ viewport: VIEWPORT, serviceWorkers: 'block' });
  await context.addCookies(cookies);
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  await page.addInitScript(`
    globalThis.shift = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) globalThis.shift += entry.value;
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
      together: '',
      fonts: '',
      content: '',
      shift: '',
    };
  }
  await page.locator(shows).first().waitFor();
  const content = performance.now() - began;
  await page.locator('main .mantine-Skeleton-root').first().waitFor({ state: 'detached' });
  await settled(page);
  const shift = await page.evaluate<number>('globalThis.shift');
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
    together: kilobytes('Script', 'Stylesheet', 'Fetch', 'XHR', 'Document'),
    fonts: kilobytes('Font'),
    content: duration(content),
    shift: shift.toFixed(3),
  };
}

interface Transfer {
  readonly kind: string;
  bytes: number;
}

/** Every request of the page, with the bytes that came over the wire. */
async function watchTraffic(session: CDPSession): Promise<Transfer[]> {
  const transfers: Transfer[] = [];
  const byId = new Map<string, Transfer>();
  session.on('Network.requestWillBeSent', ({ requestId, type = 'Other' }) => {
    const transfer = { kind: type, bytes: 0 };
    byId.set(requestId, transfer);
    transfers.push(transfer);
  });
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const transfer = byId.get(requestId);
    if (transfer !== undefined) transfer.bytes = encodedDataLength;
  });
  await session.send('Network.enable');
  return transfers;
}

/** From a key to the next frame that the browser has painted. */
async function measureKeys(browser: Browser, installation: BenchInstallation): Promise<void> {
  const page = await openAs(browser, installation, 'incidents?status=all');
  await page.locator('[data-row]').first().waitFor();
  await settled(page);
  await page.evaluate(`
    globalThis.painted = [];
    addEventListener('keydown', ({ timeStamp }) => {
      requestAnimationFrame(() => setTimeout(() => globalThis.painted.push(performance.now() - timeStamp)));
    }, true);`);
  for (let index = 0; index < KEYS; index += 1) {
    await page.keyboard.press('j');
    // The policy of the page allows no evaluation of text, so nothing waits within it.
    while ((await page.evaluate<number>('globalThis.painted.length')) <= index);
  }
  const samples = await page.evaluate<number[]>('globalThis.painted');
  printTable([{ 'key → paint': `j, ${count(INCIDENTS)} incidents`, ...spreadCells(spreadOf(samples)) }]);
  await page.context().close();
}

/** A tab that stays open while things change: what it keeps of the memory after a collection. */
async function measureMemory(browser: Browser, installation: BenchInstallation, serviceId: string): Promise<void> {
  const page = await openAs(browser, installation, 'incidents');
  await page.locator('[data-row]').first().waitFor();
  const session = await page.context().newCDPSession(page);
  const heap = async (): Promise<number> => {
    await session.send('HeapProfiler.collectGarbage');
    return await page.evaluate<number>('performance.memory.usedJSHeapSize');
  };
  await settled(page);
  const traffic = await watchTraffic(session);
  const before = await heap();
  for (let index = 0; index < CHANGES; index += 1) {
    const incidentId = `incident_${String(((index % 900) + 1) * 10).padStart(26, '0')}`;
    const change =
      index % 10 === 0
        ? { action: 'update_service', body: { serviceId, environment: `production ${index}` } }
        : { action: 'acknowledge_incident', body: { incidentId } };
    await fetch(`${installation.baseUrl}/api/rest/actions/${change.action}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${installation.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(change.body),
    });
  }
  await settled(page);
  const bytes = traffic.reduce((sum, one) => sum + one.bytes, 0);
  printTable([
    {
      memory: `${count(CHANGES)} changes`,
      before: megabytes(before),
      after: megabytes(await heap()),
      fetched: `${count(bytes / 1_000)} kB`,
      'a change': `${count(bytes / CHANGES)} B`,
    },
  ]);
  await page.context().close();
}

async function openAs(browser: Browser, installation: BenchInstallation, path: string): Promise<Page> {
  const context = await browser.newContext({ viewport: VIEWPORT });
  await context.addCookies(await logIn(browser, installation));
  const page = await context.newPage();
  await page.goto(`${installation.baseUrl}/${path}`);
  return page;
}

let session: Promise<Cookies> | null = null;

/** Once for all pages. */
async function logIn(browser: Browser, installation: BenchInstallation): Promise<Cookies> {
  session ??= (async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${installation.baseUrl}/login`);
    await page.getByLabel('Mail address').fill(installation.email);
    await page.getByLabel('Password', { exact: true }).fill(installation.password);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.waitForURL(({ pathname }) => !pathname.endsWith('/login'));
    const cookies = await context.cookies();
    await context.close();
    return cookies;
  })();
  return await session;
}

/** No request for half a second; the stream of changes stays open. */
async function settled(page: Page): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    let timer = setTimeout(resolve, 500);
    new PerformanceObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(resolve, 500);
    }).observe({ type: 'resource' });
  })`);
}

/** Services and incidents, written to the database. Returns the id of a service. */
async function fill({ dataDir, organizationId }: BenchInstallation): Promise<string> {
  const db = await openRunningDatabase(dataDir);
  const serviceIds = Array.from({ length: SERVICES }, () => newId('service'));
  try {
    await db.sql.run(
      `insert into services (id, org_id, name, created_at, updated_at)
       select id, $1, 'service ' || n, now(), now() from unnest($2::text[]) with ordinality _(id, n)`,
      [organizationId, serviceIds],
    );
    await db.sql.run(
      `insert into incidents (id, org_id, service_id, kind, dedup_key, title, severity, details, steps, status,
         triggered_at, resolved_at, resolved_by, counted_at, created_at, updated_at)
       select 'incident_' || lpad(n::text, 26, '0'), $1, ($3::text[])[n % $4::int + 1],
         'metric_threshold', n::text, 'p95 latency of checkout is above 800 ms', 'critical',
         '{"metricName":"latency","comparator":">","threshold":800,"value":912.5,"windowMinutes":5,"aggregation":"avg"}', '[]',
         case when n % 10 = 0 then 'triggered' else 'resolved' end, at, case when n % 10 = 0 then null else at end,
         case when n % 10 = 0 then null else '{"system":true,"via":"rule"}'::json end, at, at, at
       from generate_series(1, $2::int) n, lateral (select now() - make_interval(mins => n)) t(at)`,
      [organizationId, INCIDENTS, serviceIds, SERVICES],
    );
    await db.sql.run('analyze');
  } finally {
    await db.close();
  }
  return serviceIds[0] ?? '';
}
