import { existsSync } from 'node:fs';

import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core';

import type { BenchInstallation } from '#infra/bench/harness.ts';

export const VIEWPORT = { width: 1440, height: 900 };
export const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((file) =>
  existsSync(file),
);

export async function launch(executablePath: string): Promise<Browser> {
  return await chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

interface Transfer {
  readonly kind: string;
  bytes: number;
}

/** Around each message of a stream, in bytes: the names of its fields and the ends of its lines. */
const MESSAGE_FRAME = 30;

/** Every request of the page, with the bytes that came over the wire. A stream of changes has no end: its messages count. */
export async function watchTraffic(session: CDPSession): Promise<Transfer[]> {
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
  session.on('Network.eventSourceMessageReceived', ({ requestId, data }) => {
    const transfer = byId.get(requestId) ?? { kind: 'EventSource', bytes: 0 };
    if (!byId.has(requestId)) {
      byId.set(requestId, transfer);
      transfers.push(transfer);
    }
    transfer.bytes += data.length + MESSAGE_FRAME;
  });
  await session.send('Network.enable');
  return transfers;
}

/** A page of somebody who is signed in. */
export async function openAs(browser: Browser, installation: BenchInstallation, path: string): Promise<Page> {
  const context = await browser.newContext({ viewport: VIEWPORT });
  await context.addCookies(await logIn(browser, installation));
  const page = await context.newPage();
  await page.goto(`${installation.baseUrl}/${path}`);
  return page;
}

export type Cookies = Parameters<Awaited<ReturnType<Browser['newContext']>>['addCookies']>[0];

let session: Promise<Cookies> | null = null;

/** Once for all pages. */
export async function logIn(browser: Browser, installation: BenchInstallation): Promise<Cookies> {
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
export async function settled(page: Page): Promise<void> {
  await page.evaluate(`new Promise((resolve) => {
    let timer = setTimeout(resolve, 500);
    new PerformanceObserver(() => {
      clearTimeout(timer);
      timer = setTimeout(resolve, 500);
    }).observe({ type: 'resource' });
  })`);
}

/** Returns when a condition first holds, checked in every frame of the page, in milliseconds of its clock. */
export async function whenIs(page: Page, condition: string): Promise<number> {
  return await page.evaluate<number>(`new Promise((resolve) => {
    const look = () => (${condition}) ? resolve(performance.now()) : requestAnimationFrame(look);
    look();
  })`);
}
