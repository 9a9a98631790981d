import type { Browser } from 'playwright-core';

import { count, megabytes, spreadCells, spreadOf } from '#infra/bench/figures.ts';
import { type BenchInstallation, printTable } from '#infra/bench/harness.ts';
import { openAs, settled, watchTraffic } from './browser.ts';
import { INCIDENTS } from './contents.ts';

const KEYS = 30;
/** One a minute, as on a busy day. */
export const CHANGES = 1_440;

/** From a key to the next frame that the browser has painted. */
export async function measureKeys(browser: Browser, installation: BenchInstallation): Promise<void> {
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
export async function measureMemory(
  browser: Browser,
  installation: BenchInstallation,
  serviceId: string,
): Promise<void> {
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
