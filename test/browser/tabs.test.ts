import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';

import { inBrowser } from '#test/browser/chromium.ts';
import { logIn, openConsole } from '#test/browser/console_world.ts';
import { givenPerson } from '#test/kit/programs/browser.ts';
import { storesOf } from '#modules/stores.ts';

const accountOf = (page: Page, name: string) => page.getByRole('button', { name: new RegExp(`^${name}.*account`) });

async function logOut(page: Page, name: string): Promise<void> {
  await accountOf(page, name).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
}

inBrowser('several tabs of one browser', () => {
  test('logging out, logging in, and logging in as somebody else take effect in all of them', async () => {
    const h = await openConsole();
    const bram = await givenPerson(h, { role: 'responder', name: 'Bram' });
    const { page: first, email } = await h.visitor({ path: '/services' });
    await accountOf(first, 'Olga').waitFor();
    const second = await first.context().newPage();
    await second.goto(`${h.baseUrl}/incidents?status=resolved`);
    await accountOf(second, 'Olga').waitFor();

    await logOut(first, 'Olga');
    await second.waitForURL(/\/login\?next=/);
    await second.getByRole('heading', { name: 'Log in' }).waitFor();
    expect(await second.locator('body').innerText()).not.toMatch(/Olga/);

    await logIn(first, email);
    await accountOf(second, 'Olga').waitFor();
    expect(new URL(second.url()).pathname + new URL(second.url()).search).toBe('/incidents?status=resolved');

    // The address of the login can be opened by somebody who is logged in.
    await first.goto(`${h.baseUrl}/login`);
    await logIn(first, bram.email);
    await accountOf(second, 'Bram').waitFor();
    expect(await accountOf(second, 'Olga').count()).toBe(0);
    expect(new URL(second.url()).pathname).toBe('/incidents');
  });

  test('a session that is ended on another device ends in all of them, while nobody touches them', async () => {
    const h = await openConsole();
    const { page: first, userId } = await h.visitor({ path: '/services' });
    await accountOf(first, 'Olga').waitFor();
    const second = await first.context().newPage();
    await second.goto(`${h.baseUrl}/incidents`);
    await accountOf(second, 'Olga').waitFor();
    await h.context.db.sql.run('delete from sessions where user_id = $1', [userId]);
    await Promise.all([first, second].map((page) => page.waitForURL(/\/login\?next=/)));
    expect(await first.locator('body').innerText()).not.toMatch(/Olga/);
  });

  test('another organization is shown in all of them, and what was entered in the one before is kept', async () => {
    const h = await openConsole();
    const other = await h.given.organization('Umbrella');
    const { page: first, userId } = await h.visitor({ path: '/settings/agents' });
    await storesOf(h.context.db.session()).people.setMembership(other.orgId, userId, 'owner', h.clock.now());
    const second = await first.context().newPage();
    await first.reload();
    await second.goto(`${h.baseUrl}/settings/agents`);
    const writes = second.getByLabel('Changes of one agent within an hour');
    await writes.fill('30');

    const menuOf = (page: Page) => page.getByRole('button', { name: /^Organization: / }).first();
    await menuOf(first).click();
    await first.getByRole('menuitem', { name: 'Umbrella' }).click();
    await expect.poll(() => menuOf(second).innerText()).toBe('Umbrella');
    await second.getByRole('heading', { name: /, Olga$/ }).waitFor();

    await menuOf(second).click();
    await second.getByRole('menuitem', { name: 'Acme' }).click();
    await expect.poll(() => menuOf(first).innerText()).toBe('Acme');
    await second.goto(`${h.baseUrl}/settings/agents`);
    await second.getByText(/^This continues what you entered/).waitFor();
    expect(await writes.inputValue()).toBe('30');
  });
});
