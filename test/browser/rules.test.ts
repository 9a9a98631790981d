import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';

import { inBrowser, PHONE } from '#test/browser/chromium.ts';
import { type ConsoleWorld, openConsole } from '#test/browser/console_world.ts';
import { pressKeys, rulesSetting } from '#test/browser/rules_world.ts';
import { boxOf } from '#test/browser/touch.ts';
import { asId } from '#kernel/ids.ts';
import { openPath } from '#test/browser/open_path.ts';
import { arrive, delayPoints } from '#test/kit/metrics/delayed_points.ts';

const slider = (page: Page): Locator => page.getByRole('slider', { name: 'Threshold' });

async function thresholdOf(page: Page): Promise<number> {
  return Number(await slider(page).getAttribute('aria-valuenow'));
}

/** Drags the line of the threshold by so many pixels. */
async function drag(page: Page, by: number): Promise<void> {
  const { x, y, width, height } = await boxOf(slider(page));
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  for (let step = 1; step <= 8; step += 1) await page.mouse.move(x + width / 2, y + height / 2 + (by * step) / 8);
  await page.mouse.up();
}

async function rulesOf(
  h: ConsoleWorld,
  serviceId: string,
): Promise<{ name: string; config: { threshold: number }; enabled: boolean }[]> {
  return (await h.expectOk('get_service', { serviceId })).alertRules;
}

inBrowser('rules', () => {
  test('a rule is made of what arrives, tried on what was stored, saved, paused, copied and deleted with the mouse', async () => {
    const h = await openConsole();
    const visitor = await h.visitor({ path: '/rules' });
    const { page } = visitor;
    await page.getByText('No rule yet').waitFor();
    await page.getByRole('button', { name: 'Maintenance' }).waitFor();
    const { serviceId } = await rulesSetting(h, visitor);
    await page.reload();
    await page.getByText('When average of http_request_duration_ms over 5 min is > 2 s.').waitFor();
    await page.getByRole('link', { name: 'Use' }).first().click();
    await page.getByRole('heading', { name: 'Create a rule' }).waitFor();
    await page.getByText('It would have opened no incident').waitFor();

    await slider(page).waitFor();
    const before = await thresholdOf(page);
    await drag(page, 110);
    await expect.poll(() => thresholdOf(page)).toBeLessThan(before);
    await page.getByText('It would have opened 2 incidents').waitFor();
    await page.getByPlaceholder('Nobody is paged').click();
    await page.getByRole('option', { name: 'Wake somebody' }).click();
    await page.getByText('2 pages to 1 person').waitFor();

    await page.getByLabel('Name').fill('');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('A rule needs a name').waitFor();
    await page.getByLabel('Name').fill('Checkout is slow');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Checkout is slow' }).waitFor();
    await page.getByText('Wake somebody, of Platform').waitFor();

    await page.getByRole('link', { name: 'Duplicate' }).click();
    await page.getByRole('heading', { name: 'Create a rule' }).waitFor();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Checkout is slow (copy)' }).waitFor();
    await page.getByRole('link', { name: 'Rules' }).first().click();
    await page.getByRole('heading', { name: 'Rules' }).waitFor();

    await page.getByRole('switch', { name: 'Checkout is slow (copy) enabled' }).press('Space');
    await page.getByText('Checkout is slow (copy) is disabled.').waitFor();
    await page.getByRole('link', { name: 'Disabled 1' }).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('link', { name: 'Disabled 0' }).waitFor();

    await page.getByRole('button', { name: 'More for Checkout is slow (copy)' }).click();
    await page.getByRole('menuitem', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('Checkout is slow (copy) is deleted.').waitFor();
    await page.getByRole('link', { name: 'Checkout is slow (copy)' }).waitFor({ state: 'detached' });
    expect((await rulesOf(h, serviceId)).map(({ name, enabled }) => [name, enabled])).toEqual([
      ['Checkout is slow', true],
    ]);
  });

  test('a rule is made and changed with the keyboard alone, beside the change of somebody else, and a draft survives', async () => {
    const h = await openConsole();
    const visitor = await h.visitor({ path: '/' });
    const { page } = visitor;
    const { serviceId } = await rulesSetting(h, visitor);
    await page.getByRole('heading', { name: 'Home' }).or(page.getByText('On call now')).first().waitFor();
    await pressKeys(page, 'g', 'l');
    await page.getByRole('heading', { name: 'Rules' }).waitFor();
    await pressKeys(page, 'n');
    await page.getByRole('heading', { name: 'Create a rule' }).waitFor();
    await page.getByLabel('Name').focus();
    await page.keyboard.type('Checkout is slow');
    await pressKeys(page, 'Tab');
    await page.keyboard.type('check');
    await page.getByRole('option', { name: 'checkout' }).waitFor();
    await pressKeys(page, 'ArrowDown', 'Enter', 'Tab', 'Tab');
    await page.keyboard.type('http_req');
    await page.getByRole('option', { name: 'http_request_duration_ms' }).waitFor();
    await pressKeys(page, 'ArrowDown', 'Enter');
    await page.getByLabel('Threshold', { exact: true }).first().focus();
    await page.keyboard.type('800');
    await page.getByText('It would have opened 2 incidents').waitFor();
    await slider(page).focus();
    await pressKeys(page, 'ArrowUp');
    await expect.poll(() => thresholdOf(page)).toBeGreaterThan(800);
    const raised = await thresholdOf(page);
    await page.reload();
    await page.getByText('This continues what you entered').waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('Checkout is slow');
    await page.getByLabel('Name').focus();
    await pressKeys(page, 'Control+Enter');
    await page.getByRole('heading', { name: 'Checkout is slow' }).waitFor();
    expect(await rulesOf(h, serviceId)).toMatchObject([{ name: 'Checkout is slow', config: { threshold: raised } }]);

    const ruleId = new URL(page.url()).pathname.split('/').at(-1)!;
    await page.locator('main h1').focus();
    await pressKeys(page, 'e');
    await page.getByRole('heading', { name: 'Edit the rule' }).waitFor();
    await page.getByLabel('Threshold', { exact: true }).first().fill('900');
    const config = { metricName: 'http_request_duration_ms', comparator: '>', threshold: 700 };
    await h.expectOk('update_alert_rule', { ruleId, name: 'Slow', config });
    await page.getByText('Somebody else changed this while you were editing.').waitFor();
    await page.getByText('over 5 min is above 700 ms.').first().waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('Slow');
    await page.getByRole('button', { name: 'Condition: keep yours' }).press('Enter');
    // Whoever moves on by Tab means what they press next.
    await pressKeys(page, 'Tab');
    await page.getByRole('button', { name: 'Save', disabled: false }).press('Enter');
    await page.getByRole('heading', { name: 'Slow', exact: true }).waitFor();
    expect(await rulesOf(h, serviceId)).toMatchObject([{ name: 'Slow', config: { threshold: 900 } }]);
  });

  test('a threshold follows a finger, and who may only look finds nothing to press', async () => {
    const h = await openConsole();
    const editor = await h.visitor({ role: 'editor', viewport: PHONE, isMobile: true, hasTouch: true });
    const { serviceId } = await rulesSetting(h, editor);
    const config = { metricName: 'http_request_duration_ms', comparator: '>', threshold: 1_000 };
    const rule = { serviceId, name: 'Checkout is slow', kind: 'metric_threshold', config };
    const { ruleId } = await h.expectOk('create_alert_rule', rule);
    const { page } = editor;
    await page.goto(`${h.baseUrl}/rules/${ruleId}/edit`);
    await page.getByText('It would have opened 2 incidents').waitFor();
    await slider(page).scrollIntoViewIfNeeded();
    const { x, y, width, height } = await boxOf(slider(page));
    const devtools = await page.context().newCDPSession(page);
    const at = (by: number) => [{ x: x + width - 12, y: y + height / 2 + by }];
    await devtools.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: at(0) });
    for (const by of [20, 60, 100]) {
      await devtools.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: at(by) });
    }
    await devtools.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    await expect.poll(() => thresholdOf(page)).toBeLessThan(900);

    const viewer = await h.visitor({ role: 'viewer', path: '/rules' });
    await viewer.page.getByRole('link', { name: 'Checkout is slow' }).waitFor();
    expect(await viewer.page.locator('main').getByRole('switch').count()).toBe(0);
    expect(await viewer.page.getByRole('link', { name: 'Create a rule' }).count()).toBe(0);
    await viewer.page.getByRole('link', { name: 'Checkout is slow' }).click();
    await viewer.page.getByRole('heading', { name: 'Checkout is slow' }).waitFor();
    expect(await viewer.page.getByRole('link', { name: 'Edit' }).count()).toBe(0);
  });

  test('a rule whose data is late says by how much, in the list, on its page and at its service', async () => {
    const h = await openConsole();
    const visitor = await h.visitor({ role: 'viewer' });
    const { page } = visitor;
    const { serviceId } = await rulesSetting(h, visitor, 0);
    const config = { metricName: 'queue_depth', comparator: '>', threshold: 1, windowMinutes: 5, aggregation: 'avg' };
    const rule = { serviceId, name: 'The queue is long', kind: 'metric_threshold', config };
    const { ruleId } = await h.expectOk('create_alert_rule', rule);
    await delayPoints(h, asId('service', serviceId));
    h.clock.advance({ minutes: 40 });
    for (const path of ['rules', `rules/${ruleId}`, `services/${serviceId}`]) {
      await openPath(page, h.baseUrl, path);
      await page
        .getByText(/^waiting for data$/i)
        .first()
        .waitFor();
      await page
        .getByText(/^data is [45]\d min behind/i)
        .first()
        .waitFor();
    }
    await arrive(h);
    await page.reload();
    await openPath(page, h.baseUrl, 'rules');
    await page.getByText('No data yet').waitFor();
    expect(await page.getByText('behind').count()).toBe(0);
  });
});
