import type { Browser, Page } from 'playwright-core';

import { connect } from '#infra/demo/client.ts';

import { duration } from '#infra/bench/figures.ts';
import { type BenchInstallation, printTable } from '#infra/bench/harness.ts';
import { createPagedService, createTeam, openRunningDatabase } from '#infra/bench/paging/fixture.ts';
import { logIn, watchTraffic } from './browser.ts';

/** Slow network as Lighthouse and Chromium's developer tools define it. */
const SLOW_4G = { latency: 562.5, downloadThroughput: 180_000, uploadThroughput: 84_375, offline: false };
const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const SMS_MS_MAX = 60_000;

/** Measures the time from the tap on a message until "Acknowledge" can be tapped, on a phone far from the server. */
export async function measureSlowNetwork(
  browser: Browser,
  installation: BenchInstallation,
  incidentPath: string,
): Promise<void> {
  const link = await linkOfSms(installation);
  const rows = [
    await measure(browser, installation, { name: 'link of an SMS, cold', url: link, isSignedIn: false, isWarm: false }),
  ];
  const url = `${installation.baseUrl}/${incidentPath}`;
  for (const isWarm of [false, true]) {
    const name = `incident, ${isWarm ? 'files in the cache' : 'cold'}`;
    rows.push(await measure(browser, installation, { name, url, isSignedIn: true, isWarm }));
  }
  printTable(rows);
}

interface Visit {
  readonly name: string;
  readonly url: string;
  readonly isSignedIn: boolean;
  readonly isWarm: boolean;
}

async function measure(browser: Browser, installation: BenchInstallation, visit: Visit) {
  const context = await browser.newContext({ ...PHONE, serviceWorkers: visit.isWarm ? 'allow' : 'block' });
  if (visit.isSignedIn) await context.addCookies(await logIn(browser, installation));
  if (visit.isWarm) await warm(await context.newPage(), visit.url);
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  const traffic = await watchTraffic(session);
  await session.send('Network.emulateNetworkConditions', SLOW_4G);
  const began = performance.now();
  await page.goto(visit.url, { waitUntil: 'commit' });
  await page.getByRole('button', { name: 'Acknowledge' }).first().waitFor();
  const ready = performance.now() - began;
  const bytes = traffic.reduce((sum, one) => sum + one.bytes, 0);
  await context.close();
  return {
    'slow 4G': visit.name,
    'until Acknowledge': duration(ready),
    requests: traffic.length,
    bytes: `${(bytes / 1_000).toFixed(1)} kB`,
  };
}

async function warm(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.getByRole('button', { name: 'Acknowledge' }).first().waitFor();
  await page.close();
}

/** A real page by SMS, taken from the phone simulator. */
async function linkOfSms(installation: BenchInstallation): Promise<string> {
  const db = await openRunningDatabase(installation.dataDir);
  const client = connect({ ...installation, stop: async () => {} });
  try {
    const { teamId, userIds } = await createTeam(db, client, installation.organizationId, 1);
    const steps = [{ afterMinutes: 0, channels: ['sms'], targetUserIds: [...userIds] }];
    const service = await createPagedService(client, teamId, 'checkout', steps);
    const { phone } = (await db.sql.row<{ phone: string }>('select phone from team_members where team_id = $1', [
      teamId,
    ])) ?? { phone: '' };
    const config = { metricName: 'latency', comparator: '>', threshold: 100, windowMinutes: 1 };
    await client.action('create_alert_rule', {
      serviceId: service.serviceId,
      escalationPolicyId: service.policyId,
      name: 'latency',
      kind: 'metric_threshold',
      config,
    });
    await client.sendMetric(service.ingestionKey, 'latency', 500);
    const { body } = await client.waitForSms(phone, '/a/', SMS_MS_MAX);
    const [url] = /https?:\/\/\S+\/a\/\w+/.exec(body) ?? [];
    if (url === undefined) throw new Error(`the SMS has no link: ${body}`);
    return url;
  } finally {
    await db.close();
  }
}
