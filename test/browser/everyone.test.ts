import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';

import { inBrowser, PHONE } from '#test/browser/chromium.ts';
import { openConsole } from '#test/browser/console_world.ts';
import { centerOf, touchScreen } from '#test/browser/touch.ts';
import { givenPerson } from '#test/kit/browser.ts';
import { givenMetrics } from '#test/kit/given_metrics.ts';

const TABS_MAX = 150;

/** Moves the focus with Tab until this control has it: what cannot be reached so cannot be used without a mouse. */
async function reach(control: Locator): Promise<void> {
  const { keyboard } = control.page();
  await control.waitFor();
  const focused = control.and(control.page().locator(':focus'));
  for (let tabs = 0; tabs < TABS_MAX; tabs += 1) {
    if ((await focused.count()) > 0) return;
    await keyboard.press('Tab');
  }
  throw new Error(`Tab does not lead to ${String(control)}`);
}

async function enter(control: Locator, text?: string): Promise<void> {
  await reach(control);
  const { keyboard } = control.page();
  if (text !== undefined) await keyboard.type(text);
  await keyboard.press('Enter');
}

/** By g and the letter of a page. */
async function go(page: Page, letter: string, title: string): Promise<void> {
  await page.keyboard.press('g');
  await page.keyboard.press(letter);
  await page.getByRole('heading', { name: title, level: 1 }).waitFor();
}

inBrowser('everyone', () => {
  test('makes, changes and removes what an organization needs with the keyboard alone', async () => {
    const h = await openConsole();
    const bram = await givenPerson(h, { role: 'editor', name: 'Bram' });
    const { page, userId } = await h.visitor({ path: '/', serviceWorkers: 'block' });
    await page.getByText('Your open incidents').waitFor();
    const button = (name: string, within: Page | Locator = page) => within.getByRole('button', { name, exact: true });
    const dialog = page.getByRole('dialog');

    await go(page, 's', 'Services');
    await enter(button('Create a service').first());
    await enter(dialog.getByLabel('Name'), 'checkout');
    await page.getByRole('heading', { name: 'checkout', level: 1 }).waitFor();
    const [{ serviceId }] = (await h.expectOk('list_services')).services;
    const { ingestionKey } = await h.expectOk('get_service', { serviceId });
    await enter(button('Rotate'));
    await enter(dialog.getByLabel('Type checkout to confirm'), 'checkout');
    await page.getByText('The new key and DSN are active').waitFor();
    expect((await h.expectOk('get_service', { serviceId })).ingestionKey).not.toBe(ingestionKey);
    await enter(button('Delete'));
    await enter(dialog.getByLabel('Type checkout to confirm'), 'checkout');
    await page.getByText('No service yet').waitFor();

    await go(page, 't', 'Members');
    await reach(page.getByLabel('Role of Bram'));
    await page.keyboard.press('ArrowDown');
    await enter(button('Make responder', dialog));
    await page.getByText('Bram is now responder.').waitFor();
    await dialog.waitFor({ state: 'detached' });
    await enter(button('Invite somebody'));
    await enter(dialog.getByLabel('Mail address'), 'dirk@example.com');
    await enter(button('Done', dialog));
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('dirk@example.com').waitFor();
    await enter(page.getByRole('main').getByRole('link', { name: 'API keys' }));
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
    await enter(button('Create a key').first());
    await enter(dialog.getByLabel('Name'), 'Deploys');
    await enter(button('I have copied it', dialog));
    await enter(button('Revoke Deploys'));
    await enter(button('Revoke', dialog));
    await page.getByText('Deploys is revoked.').waitFor();
    await dialog.waitFor({ state: 'detached' });

    await go(page, 'm', 'Olga');
    const phone = page.getByRole('region', { name: 'Your phone' }).getByLabel('Phone', { exact: true });
    await enter(phone, '+31612345678');
    await page.getByText('Your contact details are saved.').waitFor();
    const rows = await h.context.db.sql.rows('select role, phone from memberships where user_id = any($1) order by 1', [
      [bram.userId, userId],
    ]);
    expect(rows).toEqual([
      { role: 'owner', phone: '+31612345678' },
      { role: 'responder', phone: null },
    ]);
  });

  test('does the same with a thumb, where all that can be pressed is as high as one', async () => {
    const h = await openConsole();
    const touch = { viewport: PHONE, isMobile: true, hasTouch: true, serviceWorkers: 'block' } as const;
    const { page, userId } = await h.visitor({ ...touch, path: '/services' });
    await page.getByText('No service yet').waitFor();
    const finger = await touchScreen(page);
    const press = async (control: Locator): Promise<void> => {
      await control.scrollIntoViewIfNeeded();
      expect((await control.boundingBox())!.height, String(control)).toBeGreaterThanOrEqual(44);
      await finger.tap(await centerOf(control), 2_000);
    };
    const tap = (name: string, within: Page | Locator = page) =>
      press(within.getByRole('button', { name, exact: true }).first());
    const more = async (room: string, title: string): Promise<void> => {
      await tap('More', page.getByRole('navigation', { name: 'Main navigation, on a phone' }));
      await press(page.getByRole('dialog', { name: 'More' }).getByRole('link', { name: room, exact: true }));
      await page.getByRole('heading', { name: title, level: 1 }).waitFor();
    };
    const dialog = page.getByRole('dialog');

    await tap('Create a service');
    await dialog.getByLabel('Name').fill('checkout');
    await tap('Create', dialog);
    await page.getByRole('heading', { name: 'checkout', level: 1 }).waitFor();
    const [{ serviceId }] = (await h.expectOk('list_services')).services;
    const series = { minutes: 60, everySeconds: 60 };
    await givenMetrics(h, serviceId, { name: 'queue_depth', ...series, value: (step) => 10 + (step % 9) });

    await more('Metrics', 'Metrics');
    await press(page.getByRole('button', { name: /^queue_depth/ }));
    await page.getByRole('slider', { name: 'Time in queue_depth' }).waitFor();

    await more('Dashboards', 'Dashboards');
    await tap('Create a dashboard of checkout');
    await dialog.getByLabel('Name', { exact: true }).fill('At a glance');
    await tap('Create', dialog);
    await page.getByRole('heading', { name: 'At a glance', level: 1 }).waitFor();
    await page.getByRole('region', { name: 'queue_depth' }).first().waitFor();
    await tap('Edit');
    await tap('Add a widget');
    await dialog.getByLabel('Kind').selectOption('text');
    await dialog.getByLabel('Text', { exact: true }).fill('Call Anna first');
    await tap('Add', dialog);
    await page.getByText('Call Anna first').waitFor();
    await tap('Save');
    await page.getByText('The dashboard is saved').waitFor();

    await more('Settings', 'Members');
    await tap('Invite somebody');
    await dialog.getByLabel('Mail address').fill('dirk@example.com');
    await tap('Invite', dialog);
    await tap('Done', dialog);
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('dirk@example.com').waitFor();

    await more('Me', 'Olga');
    const phone = page.getByRole('region', { name: 'Your phone' });
    await phone.getByLabel('Phone', { exact: true }).fill('+31612345678');
    await tap('Save', phone);
    await page.getByText('Your contact details are saved.').waitFor();
    const saved = await h.context.db.sql.rows('select phone from memberships where user_id = $1', [userId]);
    expect(saved).toEqual([{ phone: '+31612345678' }]);
  });
});
