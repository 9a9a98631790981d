import { expect, onTestFinished, test } from 'vitest';

import { inBrowser } from '#test/browser/chromium.ts';
import { openConsole } from '#test/browser/console_world.ts';
import { startWebhookReceiver } from '#test/kit/programs/webhook_receiver.ts';

inBrowser('places', () => {
  test('a webhook is added, tested and switched off, and its deliveries are sent again', async () => {
    const receiver = await startWebhookReceiver();
    onTestFinished(() => receiver.close());
    const h = await openConsole();
    const { page } = await h.visitor({ path: '/settings/places' });
    await page.getByText('No place yet').waitFor();
    await page.getByRole('button', { name: 'Add a place' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a place' });
    await dialog.getByLabel('Kind').click();
    await page.getByRole('option', { name: 'Webhook' }).click();
    await dialog.getByLabel('Name').fill('Status board');
    await dialog.getByLabel('Address').fill(receiver.url);
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText(/^whsec_/).waitFor();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByText('All incidents').waitFor();
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText('A test is on its way').waitFor();
    await expect.poll(() => receiver.received.length, { timeout: 30_000 }).toBe(1);
    await page.getByRole('button', { name: 'Deliveries' }).click();
    const deliveries = page.getByRole('dialog', { name: /^Deliveries to/ });
    await deliveries.getByRole('button', { name: 'Details' }).click();
    await deliveries.getByText('thanks').waitFor();
    await deliveries.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('It is sent again.').waitFor();
    await expect.poll(() => receiver.received.length, { timeout: 30_000 }).toBe(2);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Switch off' }).click();
    await page.getByText('Off', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Link Slack' }).click();
    await page.getByText(/^\/oncall link [A-Z0-9]{10}$/).waitFor();
    const shots = process.env['SCREENSHOTS'];
    if (shots !== undefined) {
      await page.screenshot({ path: `${shots}/places_wide.png`, fullPage: true });
      await page.setViewportSize({ width: 390, height: 844 });
      await page.screenshot({ path: `${shots}/places_narrow.png`, fullPage: true });
    }
  });
});
