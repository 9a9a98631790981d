import type { Browser } from 'playwright-core';

import { count, megabytes, spreadCells, spreadOf } from '#infra/bench/figures.ts';
import { type BenchInstallation, printTable } from '#infra/bench/harness.ts';
import { openAs, settled, watchTraffic } from './browser.ts';
import { INCIDENTS } from './contents.ts';

const KEYS = 30;
/** One a minute, as on a busy day. */
export const CHANGES = 1_440;

/** Measures the time from a key to the next frame that the browser paints. */
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

/** A tab that stays open for a day of changes, one after the other: what it keeps of the memory after a collection. */
export async function measureMemory(
  browser: Browser,
  installation: BenchInstallation,
  serviceId: string,
): Promise<void> {
  const page = await openAs(browser, installation, 'incidents');
  await page.locator('[data-row]').first().waitFor();
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const held = async () => {
    await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    const { metrics } = await session.send('Performance.getMetrics');
    return { bytes: usedSize, nodes: metrics.find(({ name }) => name === 'Nodes')?.value ?? 0 };
  };
  await settled(page);
  const traffic = await watchTraffic(session);
  const before = await held();
  for (let index = 0; index < CHANGES; index += 1) {
    await change(installation, index, serviceId);
    // Changes of the same moment are shown together.
    await page.waitForTimeout(APART_MS);
  }
  await settled(page);
  const bytes = traffic.reduce((sum, one) => sum + one.bytes, 0);
  const after = await held();
  printTable([
    {
      memory: `${count(CHANGES)} changes`,
      before: megabytes(before.bytes),
      after: megabytes(after.bytes),
      'nodes before': count(before.nodes),
      'nodes after': count(after.nodes),
      fetched: `${count(bytes / 1_000)} kB`,
      'a change': `${count(bytes / CHANGES)} B`,
    },
  ]);
  await page.context().close();
}

const APART_MS = 110;
const OPEN = INCIDENTS / 10;

/** Every tenth is of a service; the others answer incidents, and resolve them once all are answered. */
async function change({ baseUrl, apiKey }: BenchInstallation, index: number, serviceId: string): Promise<void> {
  const answered = index - Math.ceil(index / 10);
  const incidentId = `incident_${String(((answered % OPEN) + 1) * 10).padStart(26, '0')}`;
  const { action, body } =
    index % 10 === 0
      ? { action: 'update_service', body: { serviceId, environment: `production ${index}` } }
      : { action: answered < OPEN ? 'acknowledge_incident' : 'resolve_incident', body: { incidentId } };
  const answer = await fetch(`${baseUrl}/api/rest/actions/${action}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${action} was answered with ${answer.status}: ${await answer.text()}`);
}
