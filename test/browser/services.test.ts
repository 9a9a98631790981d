import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';

import { setShownPrices } from '#modules/organizations/operations/organization.ts';
import { storesOf } from '#modules/stores.ts';
import { eventAt, groupAndStore } from '#test/modules/exceptions/given_events.ts';
import { inBrowser } from '#test/browser/chromium.ts';
import { openConsole } from '#test/browser/console_world.ts';
import { memberCaller, runOperation } from '#test/kit/run_operation.ts';

/** Confirms a dialog, and types the name where the dialog asks for it. */
async function confirm(page: Page, button: string, name?: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  if (name !== undefined) {
    await dialog.getByRole('button', { name: button, disabled: true }).waitFor();
    await dialog.getByLabel(`Type ${name} to confirm`).fill(name);
  }
  await dialog.getByRole('button', { name: button }).click();
  await dialog.waitFor({ state: 'detached' });
}

inBrowser('services', () => {
  test('a service is created, changed in every way, and deleted', async () => {
    const h = await openConsole();
    const show = memberCaller(h.orgId, h.owner.userId, 'owner');
    await runOperation(h, setShownPrices, show, { shown: true });
    const { page } = await h.visitor({ path: '/services', permissions: ['clipboard-read', 'clipboard-write'] });
    await page.getByText('No service yet').waitFor();
    await page.getByRole('button', { name: 'Create a service' }).click();
    await page.getByLabel('Name').fill('checkout');
    await page.getByLabel('Environment').fill('production');
    await page.getByText('€3.00 a month').waitFor();
    await page.getByLabel('On-call, €1.00 a month').uncheck();
    await page.getByLabel('Exceptions, €1.00 a month').uncheck();
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'checkout' }).waitFor();
    const { services } = await h.expectOk('list_services');
    const { serviceId } = services[0];
    expect(services[0]).toMatchObject({ environment: 'production', scmOwner: null, capabilities: ['metrics'] });
    const read = () => h.expectOk('get_service', { serviceId });

    await page.getByRole('link', { name: 'Settings', exact: true }).last().click();
    await page.getByRole('switch', { name: 'Exceptions enabled' }).press('Space');
    await page.getByRole('dialog').getByText('It costs €1.00 a month').waitFor();
    await confirm(page, 'Enable');
    await page.getByText('€2.00 for this service').waitFor();
    await page.getByRole('switch', { name: 'Metrics enabled' }).press('Space');
    await confirm(page, 'Disable');
    await page.getByText('Paid until').waitFor();
    expect((await read()).capabilities).toEqual(['exceptions']);

    await page.getByRole('button', { name: 'Change how long Exceptions are kept' }).click();
    await page.getByLabel('Days').fill('14');
    await confirm(page, 'Save');
    await page.getByText('Kept for 14 days').waitFor();

    const before = await read();
    expect(await page.getByText(before.ingestionKey).count()).toBe(0);
    const reveals = () => h.context.db.sql.rows(`select 1 from audit_log where action = 'reveal_ingest_key'`);
    expect(await reveals()).toHaveLength(0);
    await page.getByRole('button', { name: 'Show keys' }).click();
    await page.getByText(before.dsn, { exact: true }).waitFor();
    await page.getByText(`Sentry.init({ dsn: '${before.dsn}' })`).waitFor();
    await page.getByText('curl', { exact: true }).click();
    await page.getByRole('button', { name: 'Copy snippet' }).click();
    await expect
      .poll(() => page.evaluate('navigator.clipboard.readText()'))
      .toContain(`Bearer ${before.ingestionKey}'`);
    await page.getByText('Node.js', { exact: true }).click();
    await page.getByRole('button', { name: 'Copy Ingestion key' }).click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(before.ingestionKey);
    expect(await reveals()).toHaveLength(1);
    await page.getByRole('button', { name: 'Hide keys' }).click();
    await page.getByText('tocsin_ing_********').first().waitFor();
    expect(await page.getByText(before.dsn).count()).toBe(0);
    await page.getByRole('button', { name: 'Show and fill in key' }).click();
    await page.getByText(before.dsn, { exact: true }).waitFor();

    await page.getByRole('button', { name: 'Rotate' }).click();
    await confirm(page, 'Rotate', 'checkout');
    await page.getByText('The new key and DSN are active').waitFor();
    await page.getByRole('button', { name: 'Show keys' }).waitFor();
    expect(await page.getByText(before.dsn).count()).toBe(0);
    expect(await reveals()).toHaveLength(2);
    expect((await read()).ingestionKey).not.toBe(before.ingestionKey);

    await page.getByRole('button', { name: 'Delete' }).click();
    await confirm(page, 'Delete', 'checkout');
    await page.waitForURL(/\/services$/);
    await page.getByText('No service yet').waitFor();
  });

  test('a service is not created twice when a capability could not be enabled', async () => {
    const h = await openConsole();
    const { page } = await h.visitor({ path: '/services', serviceWorkers: 'block' });
    await page.route('**/actions/enable_capability', async (route) => {
      if (route.request().postData()?.includes('exceptions') === true) await route.abort();
      else await route.continue();
    });
    await page.getByRole('button', { name: 'Create a service' }).click();
    await page.getByLabel('Name').fill('checkout');
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    await page
      .getByText('checkout was created, but Exceptions could not be enabled: enable it in the settings')
      .waitFor();
    await page.getByRole('heading', { name: 'checkout' }).waitFor();
    const { services } = await h.expectOk('list_services');
    expect(services).toMatchObject([{ name: 'checkout', capabilities: ['metrics', 'oncall'] }]);

    const { serviceId } = services[0];
    const config = { metricName: 'latencey', comparator: '>', threshold: 1 };
    await h.expectOk('create_alert_rule', { serviceId, name: 'Slow', kind: 'metric_threshold', config });
    await page.reload();
    await page.getByText('No point of latencey has arrived yet, so the rule cannot fire.').waitFor();
    await page.getByText('no data yet').waitFor();
  });

  test('500 services are found, and the last of them is reached with few rows in the document', async () => {
    const h = await openConsole();
    await h.context.db.sql.run(
      `insert into services (id, org_id, name, environment, retention_metrics, retention_exceptions, retention_oncall, created_at, updated_at)
       select 'service_' || lpad(n::text, 26, '0'), $1, 'service ' || lpad(n::text, 3, '0'), 'production', 30, 30, 30, now(), now()
       from generate_series(1, 500) n`,
      [h.orgId],
    );
    const { page } = await h.visitor({ path: '/services' });
    await page.getByText('500 services').waitFor();
    const last = page.getByRole('link', { name: 'service 500' });
    const toTheEnd = async (): Promise<number> => {
      await page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)');
      return await last.count();
    };
    await expect.poll(toTheEnd).toBe(1);
    expect(await page.locator('main [data-row]').count()).toBeLessThan(100);
    await page.getByLabel('Find a service').fill('service 33');
    await page.getByText('10 services').waitFor();
    await expect.poll(() => page.locator('main [data-row]').count()).toBe(10);
    await expect.poll(() => new URL(page.url()).searchParams.get('text')).toBe('service 33');
  });

  test('arriving and refused data are shown, and a viewer cannot change the service', async () => {
    const h = await openConsole();
    const service = await h.given.service({ name: 'checkout' });
    const { page } = await h.visitor({ role: 'viewer', path: `/services/${service.serviceId}` });
    await page.getByText('Nothing has arrived yet.').first().waitFor();
    const firstCard = page.locator('main').getByRole('heading', { level: 2 }).first();
    await expect.poll(() => firstCard.innerText()).toBe('Send data');
    expect(await page.getByText('refused', { exact: true }).count()).toBe(0);
    const refused = { serviceId: service.serviceId, hour: h.clock.now(), lastAt: h.clock.now() };
    await storesOf(h.context.db.session()).ingestRefusals.add([
      { ...refused, kind: 'points', reason: 'too_many_series', count: 1_204 },
      { ...refused, kind: 'events', reason: 'rate_limited', count: 1 },
    ]);
    await fetch(`${h.baseUrl}/api/ingest/metrics`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.ingestionKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ points: [{ name: 'latency', value: 3 }] }),
    });
    await page.getByText('1 point in the last hour').waitFor();
    await page.getByRole('region', { name: 'What it sends' }).getByRole('link', { name: 'latency' }).waitFor();
    expect(await firstCard.innerText()).toBe('Health');
    await page.getByText('1,204 points refused: too many new series in a day').waitFor();
    await page.getByText('1 request with events refused: over the rate limit of the service').waitFor();
    await page.goto(`${h.baseUrl}/services/${service.serviceId}/settings`);
    // What may not be changed is told in words: a switch that cannot be pressed looks like one that is off.
    expect(await page.getByRole('switch').count()).toBe(0);
    await expect.poll(() => page.getByText('enabled', { exact: true }).count()).toBe(3);
    expect(await page.getByRole('button', { name: /^(?:Edit|Rotate|Delete)$/ }).count()).toBe(0);
  });

  test('releases are compared, a deploy is recorded, and noise is left out', async () => {
    const h = await openConsole();
    const { serviceId } = await h.given.service({ name: 'checkout' });
    await groupAndStore(h, serviceId, [
      eventAt(h, { release: 'shop@1.0.0', ago: { hours: 3 } }),
      eventAt(h, { release: 'shop@1.1.0', ago: { hours: 1 } }),
      eventAt(h, { release: 'shop@1.1.0', fingerprint: ['other'] }),
    ]);
    const { page } = await h.visitor({ path: `/services/${serviceId}` });
    const card = page.getByRole('region', { name: 'Releases', exact: true });
    await card.getByText('2 events, 1 user, 1 new exception').waitFor();
    const dialog = page.getByRole('dialog');
    await card.getByRole('button', { name: 'Compare' }).click();
    await dialog.getByText('Not before, 1 after').waitFor();
    await dialog.getByText('new', { exact: true }).waitFor();
    expect(new URL(page.url()).search).toBe('?after=shop%401.1.0&before=shop%401.0.0');
    await page.reload();
    await dialog.getByText('Not before, 1 after').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });

    await card.getByRole('button', { name: 'Record a deploy' }).click();
    await dialog.getByLabel('Release').fill('shop@1.2.0');
    await dialog.getByLabel('Environment').fill('staging');
    await dialog.getByRole('button', { name: 'Record' }).click();
    await dialog.waitFor({ state: 'detached' });
    await card.getByText('Deployed to staging').waitFor();

    await page.goto(`${h.baseUrl}/services/${serviceId}/settings`);
    await page.getByRole('button', { name: 'Edit noise and secrets' }).click();
    await dialog.getByLabel('Robots and crawlers').check();
    await dialog.getByLabel('Own patterns').fill('*ResizeObserver*');
    await dialog.getByLabel('Spike protection').selectOption('A limit of your own');
    await dialog.getByLabel('Events an hour').fill('1000');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const noise = page.getByRole('region', { name: 'Noise and secrets' });
    await noise.getByText('Robots and crawlers').waitFor();
    await noise.getByText('*ResizeObserver*').waitFor();
    await noise.getByText('Keeps 1,000 events an hour').waitFor();
    const marks = await h.context.db.sql.rows('select release, environment from deploys where service_id = $1', [
      serviceId,
    ]);
    expect(marks).toEqual([{ release: 'shop@1.2.0', environment: 'staging' }]);
  });
});
