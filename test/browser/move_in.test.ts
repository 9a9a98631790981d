import { expect, test } from 'vitest';

import { axeViolations } from '#test/browser/axe.ts';
import { inBrowser } from '#test/browser/chromium.ts';
import { openConsole } from '#test/browser/console_world.ts';
import { pagerDutyDouble } from '#test/modules/moving_in/vendor_double.ts';

inBrowser('moving in', () => {
  test('the page leads from a key to a report, a plan, the numbers, shadow mode and the list to cut over', async () => {
    const h = await openConsole();
    const double = await pagerDutyDouble();
    try {
      const { page } = await h.visitor({ role: 'admin', path: '/settings/move-in', colorScheme: 'light' });
      await page.getByLabel('Read-only REST API key').fill('wrong-key');
      await page.getByLabel('Address').fill(double.url);
      await page.getByRole('button', { name: 'Read', exact: true }).click();
      await page.getByRole('alert').filter({ hasText: 'refused the key in the form with status 401' }).waitFor();
      await page.getByLabel('Read-only REST API key').fill('first-key');
      await page.getByLabel('Address').fill(double.url);
      await page.getByRole('button', { name: 'Read again' }).click();
      await page.getByText('minutes of 1 schedule are equal').waitFor();
      await page.getByRole('button', { name: /^compiled \d+/ }).click();
      await page.getByText('The number comes along unconfirmed.').first().waitFor();
      const saved = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Report as Markdown' }).click();
      expect((await saved).suggestedFilename()).toBe('move-in-pagerduty.md');
      await page.getByRole('button', { name: 'Apply this plan' }).click();
      await page.getByText('Nothing is left to change.').waitFor();
      await page.getByText('0 of 3 people have done both').waitFor();
      await page.getByRole('button', { name: 'Ask everybody' }).click();
      await page.getByText('Asked by mail since').waitFor();
      await page.getByRole('button', { name: 'Begin shadow mode' }).click();
      await page.getByText(/Nobody is paged since/).waitFor();
      expect(await axeViolations(page, 'main')).toEqual([]);
      const shots = process.env['SCREENSHOTS'];
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        for (const width of [390, 1440]) {
          await page.setViewportSize({ width, height: 900 });
          expect(await page.evaluate('document.documentElement.scrollWidth <= window.innerWidth')).toBe(true);
          if (shots !== undefined)
            await page.screenshot({ path: `${shots}/move_in_${colorScheme}_${width}.png`, fullPage: true });
        }
      }
    } finally {
      await double.close();
    }
  });

  test('files are read in the place of a key', async () => {
    const h = await openConsole();
    const { page } = await h.visitor({ role: 'admin', path: '/settings/move-in' });
    await page.getByLabel('Tool').selectOption('PagerDuty');
    await page.getByText('From files', { exact: true }).click();
    await page.getByLabel('Files', { exact: true }).setInputFiles([
      {
        name: 'users.json',
        mimeType: 'application/json',
        buffer: Buffer.from(
          JSON.stringify({
            users: [{ id: 'PADA', type: 'user', name: 'Ada', email: 'ada@example.com', role: 'user' }],
          }),
        ),
      },
      { name: 'half.json', mimeType: 'application/json', buffer: Buffer.from('{"schedules": [') },
    ]);
    await page.getByText('2 files chosen.').waitFor();
    const shots = process.env['SCREENSHOTS'];
    if (shots !== undefined) await page.screenshot({ path: `${shots}/move_in_begin.png`, fullPage: true });
    await page.getByRole('button', { name: 'Read', exact: true }).click();
    await page.getByText('It is no JSON: it may have been cut off. Nothing of it was read.').waitFor();
    expect(await page.getByRole('button', { name: /^refused/ }).innerText()).toMatch(/^refused [1-9]/);
  });
});
