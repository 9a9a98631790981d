import type { Browser, Page } from 'playwright-core';

import { duration, type Spread, spreadOf } from '#infra/bench/figures.ts';
import { type BenchInstallation, printTable } from '#infra/bench/harness.ts';
import { createPagedService, createTeam, openRunningDatabase } from '#infra/bench/paging/fixture.ts';
import { connect } from '#infra/demo/client.ts';
import { openAs, settled, VIEWPORT, watchTraffic, whenIs } from './browser.ts';
import { MILLION } from './contents.ts';

const TIMES = 40;
const DAY_MS = 86_400_000;

/** Incidents of seven days follow the threshold of a rule that is dragged in its editor. */
export async function measureThreshold(
  browser: Browser,
  installation: BenchInstallation,
  serviceId: string,
): Promise<void> {
  const rule = `service=${serviceId}&metric=${MILLION.name}&aggregation=avg&threshold=120&window=5`;
  const page = await openAs(browser, installation, `rules/new?${rule}`);
  const handle = page.getByRole('slider', { name: 'Threshold' });
  await handle.waitFor();
  await settled(page);
  const { x, y, width } = (await handle.boundingBox()) ?? { x: 0, y: 0, width: VIEWPORT.width };
  const middle = x + width / 2;
  // From the movement until the sentence that counts the incidents has changed and is painted, with their marks.
  await page.evaluate(`
    globalThis.painted = [];
    globalThis.movedAt = null;
    addEventListener('pointermove', ({ timeStamp }) => { globalThis.movedAt ??= timeStamp; }, true);
    new MutationObserver(() => {
      const { movedAt } = globalThis;
      if (movedAt === null) return;
      globalThis.movedAt = null;
      requestAnimationFrame(() => setTimeout(() => globalThis.painted.push(performance.now() - movedAt)));
    }).observe(document.querySelector('section [aria-live=polite]'), { subtree: true, childList: true, characterData: true });`);
  await page.mouse.move(middle, y + 2);
  await page.evaluate('globalThis.movedAt = null');
  await page.mouse.down();
  for (let step = 1; step <= TIMES; step += 1) {
    await page.mouse.move(middle, y + 2 + step * 2);
    await page.waitForTimeout(50);
  }
  await page.mouse.up();
  const samples = await page.evaluate<number[]>('globalThis.painted');
  await page.context().close();
  print('threshold dragged → incidents of 7 days', spreadOf(samples));
}

/** Measures the simulator, which shows whom a service would page, over a year with a weekly rotation of five people. */
export async function measureSimulator(browser: Browser, installation: BenchInstallation): Promise<void> {
  const serviceId = await givenPolicy(installation);
  const page = await openAs(browser, installation, `oncall/simulator?service=${serviceId}`);
  await page.getByText('What is assumed').waitFor();
  await settled(page);
  const path = `api/console/organizations/${installation.organizationId}/actions/simulate_escalation`;
  const asked = await page.evaluate<number[]>(`(async () => {
    const took = [];
    for (let index = 0; index < ${TIMES * 5}; index += 1) {
      const at = new Date(Date.now() + (index * 2654435761 % 365) * ${DAY_MS} + index * 1234567).toISOString();
      const began = performance.now();
      const answer = await fetch('${installation.baseUrl}/${path}', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ serviceId: '${serviceId}', at }),
      });
      if (!answer.ok) throw new Error('the simulator answered ' + answer.status);
      await answer.json();
      took.push(performance.now() - began);
    }
    return took;
  })()`);
  const shown: number[] = [];
  for (let index = 0; index < TIMES; index += 1) shown.push(await pressDay(page));
  await page.context().close();
  print('time within a year → answer of the simulator', spreadOf(asked));
  print('… → painted', spreadOf(shown));
}

/** Returns the time from a press on "+ 1 day" until the answer for that day is painted. */
async function pressDay(page: Page): Promise<number> {
  const shownTime = `document.querySelector('main h2 time')?.dateTime`;
  await page.evaluate(`
    globalThis.before = ${shownTime};
    addEventListener('click', ({ timeStamp }) => { globalThis.pressedAt = timeStamp; }, { capture: true, once: true });`);
  await page.getByRole('button', { name: '+ 1 day' }).click();
  const painted = await whenIs(page, `${shownTime} !== globalThis.before`);
  return painted - (await page.evaluate<number>('globalThis.pressedAt'));
}

async function givenPolicy(installation: BenchInstallation): Promise<string> {
  const db = await openRunningDatabase(installation.dataDir);
  const client = connect({ ...installation, stop: async () => {} });
  try {
    const { teamId, userIds } = await createTeam(db, client, installation.organizationId, 5, 900);
    const schedule = { teamId, name: 'Primary', rotationType: 'weekly', rotationConfig: { userIds } };
    await client.action('create_schedule', schedule);
    const steps = [0, 10, 20].map((afterMinutes) => ({
      afterMinutes,
      channels: ['sms', 'call'],
      useSchedule: true,
      targetUserIds: [],
    }));
    const { serviceId, policyId } = await createPagedService(client, teamId, 'simulated', steps);
    const rule = { serviceId, escalationPolicyId: policyId, name: 'New exceptions', kind: 'exception', config: {} };
    await client.action('create_alert_rule', rule);
    return serviceId;
  } finally {
    await db.close();
  }
}

/** The answer of somebody else to an incident: until an open list shows it, and the bytes that the tab has got. */
export async function measureChanges(browser: Browser, installation: BenchInstallation): Promise<void> {
  const page = await openAs(browser, installation, 'incidents');
  await page.locator('[data-row]').first().waitFor();
  await settled(page);
  const traffic = await watchTraffic(await page.context().newCDPSession(page));
  const seen: number[] = [];
  for (let index = 0; index < TIMES; index += 1) {
    const row = page.locator('[data-row]').first();
    const id = (await row.getAttribute('data-row')) ?? '';
    // Acknowledged, it stands behind those that nobody has answered.
    const gone = `document.querySelector('[data-row]')?.dataset.row !== '${id}'`;
    const began = Date.now();
    const answer = fetch(`${installation.baseUrl}/api/rest/actions/acknowledge_incident`, {
      method: 'POST',
      headers: { authorization: `Bearer ${installation.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ incidentId: id }),
    });
    await whenIs(page, gone);
    seen.push((await page.evaluate<number>('Date.now()')) - began);
    if (!(await answer).ok) throw new Error(`the acknowledgement was answered with ${(await answer).status}`);
    await settled(page);
  }
  const bytes = traffic.reduce((sum, one) => sum + one.bytes, 0) / TIMES;
  await page.context().close();
  const { p50, max } = spreadOf(seen);
  printTable([
    {
      "another's change": 'acknowledged → seen in an open list',
      p50: duration(p50),
      max: duration(max),
      'a change': `${(bytes / 1_000).toFixed(1)} kB`,
    },
  ]);
}

function print(what: string, { p50, max }: Spread): void {
  printTable([{ 'what follows': what, p50: duration(p50), max: duration(max) }]);
}
