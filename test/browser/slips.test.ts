import { expect, test } from 'vitest';

import { inBrowser, PHONE } from '#test/browser/chrome.ts';
import { fingerOn, middleOf } from '#test/browser/finger.ts';
import { openHouse } from '#test/browser/house.ts';

/** On a busy machine. */
const SOON = { timeout: 20_000 };

inBrowser('slips', () => {
  test('letters typed into the palette, or while it is loaded, do nothing to the incident behind; it closes in every way', async () => {
    const h = await openHouse();
    const { serviceId } = await h.given.service({ name: 'checkout' });
    const incidentId = await h.incident(serviceId, 'Checkout is slow');
    const { page } = await h.visitor({ path: '/incidents' });
    await page.getByRole('link', { name: 'Checkout is slow' }).click();
    await page.getByRole('button', { name: 'Acknowledge' }).waitFor();
    const asked: string[] = [];
    page.on('request', (request) => {
      if (/actions\/(?:acknowledge|resolve)/.test(request.url())) asked.push(request.url());
    });
    const search = page.getByLabel('Where to go');
    const isGone = () => search.waitFor({ state: 'detached' });

    let letLoad = (): void => {};
    const typed = new Promise<void>((resolve) => (letLoad = resolve));
    await page.route('**/assets/palette-*.js', async (route) => {
      await typed;
      await route.continue();
    });
    for (const key of ['Control+k', 'a', 'r']) await page.keyboard.press(key);
    letLoad();
    await search.waitFor();
    expect(asked).toEqual([]);
    await page.keyboard.type('ar');
    await page.keyboard.press('Escape');
    await isGone();

    await page.keyboard.press('Control+k');
    await search.waitFor();
    await page.mouse.click(5, 5);
    await isGone();
    await page.keyboard.press('Control+k');
    await search.waitFor();
    await page.keyboard.press('Control+k');
    await isGone();
    await page.keyboard.press('Control+k');
    await search.waitFor();
    await page.evaluate('history.back()');
    await isGone();
    expect(new URL(page.url()).pathname).toBe(`/incidents/${incidentId}`);

    await page.getByRole('button', { name: /account/ }).click();
    await page.getByRole('menu').waitFor();
    for (const key of ['a', 'r']) await page.keyboard.press(key);
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'detached' });

    // What follows g and names no place does nothing either.
    for (const key of ['g', 'r', 'g', 'a']) await page.keyboard.press(key);
    await page.keyboard.press('Control+k');
    await search.fill('billing');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/settings\/billing/);
    await isGone();
    await expect.poll(() => page.evaluate('document.activeElement.tagName'), SOON).toBe('H1');
    expect(asked).toEqual([]);
  });

  test('a second tap within 600 ms never reaches what took the place of the first target', async () => {
    const h = await openHouse();
    const { serviceId } = await h.given.service({ name: 'checkout' });
    const incidentId = await h.incident(serviceId, 'Checkout is slow');
    const other = await h.incident(serviceId, 'Disk is full');
    const statusOf = async (id: string) => (await h.expectOk('get_incident', { incidentId: id })).status;
    const { page } = await h.visitor({ path: `/incidents/${incidentId}`, viewport: PHONE, hasTouch: true });
    const finger = await fingerOn(page);
    const acknowledge = page.getByRole('button', { name: 'Acknowledge' });
    const place = await middleOf(acknowledge);
    await finger.tap(place, 0);
    await acknowledge.waitFor({ state: 'detached' });
    // Resolve is there by now. An impatient finger begins anew with each tap.
    for (const afterMs of [120, 300, 450, 590]) await finger.tap(place, afterMs);
    await expect.poll(() => statusOf(incidentId), SOON).toBe('acknowledged');
    await finger.tap(place, 610);
    await expect.poll(() => statusOf(incidentId), SOON).toBe('resolved');

    // In a list the row below moves up.
    await h.incident(serviceId, 'Queue is long');
    await page.goto(`${h.baseUrl}/incidents?status=triggered`);
    const rows = page.locator('li[data-row]');
    await rows.nth(1).waitFor();
    const first = rows.first().getByRole('button');
    const inList = await middleOf(first);
    await finger.tap(inList, 5_000);
    await rows.nth(1).waitFor({ state: 'detached' });
    await finger.tap(inList, 200);
    await page.getByRole('link', { name: 'Disk is full' }).waitFor();
    expect(await statusOf(other)).toBe('triggered');
  });
});
