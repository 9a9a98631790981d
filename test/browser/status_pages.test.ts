import { expect, test } from 'vitest';

import { axeViolations } from '#test/browser/axe.ts';
import { inBrowser } from '#test/browser/chromium.ts';
import { openConsole } from '#test/browser/console_world.ts';

const SETTINGS = ['sign-in', 'provisioning', 'places', 'status-pages', 'audit'];

inBrowser('status pages', () => {
  test('a page is set up, an incident is published from its page, and readers see what was published', async () => {
    const h = await openConsole();
    const { serviceId } = await h.given.service({ name: 'checkout-internal' });
    const incidentId = await h.incident(serviceId, 'disk of db-1 is full');
    const { page } = await h.visitor({ path: '/settings/status-pages', colorScheme: 'light' });
    await page.getByRole('button', { name: 'Add a status page' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'Add a status page' });
    await dialog.getByLabel('Title', { exact: true }).fill('Acme status');
    await dialog.getByLabel('Last part of the address').fill('acme');
    await dialog.getByRole('button', { name: 'Add a service' }).click();
    await dialog.getByLabel('Service', { exact: true }).click();
    await page.getByRole('option', { name: 'checkout-internal' }).click();
    await dialog.getByLabel('Public name').fill('Payments');
    expect(await axeViolations(page, '[role=dialog]')).toEqual([]);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('1 service · 0 subscribers by mail').waitFor();

    await page.goto(`${h.baseUrl}/incidents/${incidentId}`);
    await page.getByRole('button', { name: 'Publish', exact: true }).click();
    const publishing = page.getByRole('dialog', { name: /^Publish #/ });
    await publishing.getByLabel('Public title').fill('Payments are slow');
    await publishing.getByLabel('Text for readers').fill('We are looking into it.');
    expect(await axeViolations(page, '[role=dialog]')).toEqual([]);
    await publishing.getByRole('button', { name: 'Publish', exact: true }).click();
    await page.getByText('Readers see it within ten seconds.').waitFor();

    await page.goto(`${h.baseUrl}/status/acme`);
    await page.getByText('Payments are slow').waitFor();
    expect(await page.content()).not.toMatch(/internal|db-1/);
    const shots = process.env['SCREENSHOTS'];
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const width of [1440, 390]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 844 });
        expect(await axeViolations(page, undefined, 'shown'), `${colorScheme} at ${width} px`).toEqual([]);
        const isTooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
        expect(await page.evaluate(isTooWide)).toBe(false);
        if (shots !== undefined)
          await page.screenshot({ path: `${shots}/public_${colorScheme}_${width}.png`, fullPage: true });
      }
    }
    await page.getByLabel('Your mail address').fill('reader@example.org');
    await page.getByRole('button', { name: 'Subscribe' }).click();
    await page.getByText('Look into your mailbox.').waitFor();
    await expect
      .poll(() => h.post.mails.map(({ subject }) => subject), { timeout: 30_000 })
      .toContain('Confirm: Updates of Acme status');
  });

  test('the settings pages beside them pass axe on a desk and on a phone, in both schemes', async () => {
    const h = await openConsole();
    const { page } = await h.visitor({ path: '/settings/status-pages', colorScheme: 'light' });
    const shots = process.env['SCREENSHOTS'];
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 844 });
      for (const path of SETTINGS) {
        await page.goto(`${h.baseUrl}/settings/${path}`);
        await page.locator('main h1').first().waitFor();
        await page.locator('main .mantine-Skeleton-root').first().waitFor({ state: 'detached' });
        expect(await axeViolations(page), `${path} at ${width} px`).toEqual([]);
        const isTooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
        expect(await page.evaluate(isTooWide), `${path} at ${width} px`).toBe(false);
        if (shots !== undefined) await page.screenshot({ path: `${shots}/${path}_${width}.png`, fullPage: true });
      }
    }
    await page.getByRole('button', { name: 'Streams' }).click();
    await page.getByText('The audit log is streamed nowhere yet.').waitFor();
    expect(await axeViolations(page, '[role=dialog]')).toEqual([]);
    if (shots !== undefined) await page.screenshot({ path: `${shots}/streams.png` });
  });
});
