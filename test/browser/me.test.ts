import { expect, test } from 'vitest';

import { inBrowser } from '#test/browser/chromium.ts';
import { openConsole } from '#test/browser/console_world.ts';
import { PASSWORD, signedIn } from '#test/kit/programs/browser.ts';

inBrowser('the Me page', () => {
  test('one calendar of all shifts is made, shown again, renewed and revoked, and it says whether a page would wake', async () => {
    const h = await openConsole();
    const { page } = await h.visitor({ role: 'viewer', name: 'Vera', path: '/me' });
    const readiness = page.getByRole('region', { name: 'Would a page wake you?' });
    await readiness.getByText('No SMS, call or push reaches you.').waitFor();
    await page.getByRole('button', { name: 'Your calendar' }).click();
    await page.getByRole('button', { name: 'Show your address' }).click();
    await page.getByText('You have no address yet.').waitFor();
    await page.getByRole('button', { name: 'Create an address' }).click();
    const address = page.getByText(/\/api\/calendar\/.*\.ics$/);
    const first = (await address.textContent())!;
    expect((await fetch(first)).status).toBe(200);
    await page.getByRole('button', { name: 'New address' }).click();
    await page.getByRole('button', { name: 'Make a new address' }).click();
    await expect.poll(() => address.textContent()).not.toBe(first);
    expect((await fetch(first)).status).toBe(404);
    const second = (await address.textContent())!;
    await page.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog', { name: 'Revoke the address?' }).getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('The address of your shifts no longer works.').waitFor();
    expect((await fetch(second)).status).toBe(404);
  });

  test('a test by mail is followed until it arrives, and people edit their own number and channels', async () => {
    const h = await openConsole();
    const anna = await h.visitor({ role: 'responder', name: 'Anna' });
    const { page } = anna;
    const { teamId } = await h.expectOk('create_team', { name: 'Platform' });
    await h.expectOk('add_team_member', { teamId, userId: anna.userId });
    await page.goto(`${h.baseUrl}/me`);
    await page.getByRole('button', { name: 'Send a test by Mail' }).click();
    await page
      .getByText(/^sent|^arrived/)
      .first()
      .waitFor();
    await expect.poll(() => h.post.mails.map(({ subject }) => subject)).toEqual(['[Tocsin] Test message']);

    await page.getByRole('region', { name: 'Platform' }).getByLabel('Phone', { exact: true }).fill('0612345678');
    await page.getByRole('region', { name: 'Platform' }).getByRole('button', { name: 'Save' }).click();
    await page.getByText('Include the country code').waitFor();
    await page.getByRole('region', { name: 'Platform' }).getByLabel('Phone', { exact: true }).fill('+31 6 1234 5678');
    await page.getByRole('region', { name: 'Platform' }).getByRole('switch', { name: 'Phone call' }).press('Space');
    await page.getByRole('region', { name: 'Platform' }).getByRole('button', { name: 'Save' }).click();
    await page.getByText('Your contact details in Platform are saved.').waitFor();
    const { teams } = await h.expectOk('list_teams');
    expect(teams[0].members[0]).toMatchObject({ phone: '+31612345678', callEnabled: false, smsEnabled: true });
  });

  test('somebody in no team gives a number for pages of other teams, and is told that it is not confirmed', async () => {
    const h = await openConsole();
    const { page, userId } = await h.visitor({ role: 'responder', name: 'Cleo', path: '/me' });
    const card = page.getByRole('region', { name: 'Your phone' });
    await card.getByLabel('Phone', { exact: true }).fill('+31 6 1234 5678');
    await card.getByRole('switch', { name: 'Phone call' }).press('Space');
    await card.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Your contact details are saved.').waitFor();
    const rows = await h.context.db.sql.rows('select phone, call_enabled from memberships where user_id = $1', [
      userId,
    ]);
    expect(rows).toEqual([{ phone: '+31612345678', call_enabled: false }]);
    await page.reload();
    await expect.poll(() => card.getByLabel('Phone', { exact: true }).inputValue()).toBe('+31612345678');
  });

  test('changing the password logs out all other devices', async () => {
    const h = await openConsole();
    const { page, email } = await h.visitor({ name: 'Anna', path: '/me' });
    const other = await signedIn(h, email);
    await page.getByRole('button', { name: 'Change your password' }).click();
    await page.getByLabel('Current password').fill(PASSWORD);
    await page.getByLabel('New password').fill('quiet harbour 7 lantern');
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByText('Your password was changed').waitFor();
    expect((await other.get('/session')).status).toBe(401);
    await page.reload();
    await page.getByText('Where you are logged in').waitFor();
  });

  test('what is entered stays on the page while there is no network, and is saved afterwards', async () => {
    const h = await openConsole();
    const { page } = await h.visitor({ path: '/me' });
    const name = page.getByLabel('Name', { exact: true });
    const save = page.locator('form', { has: name }).getByRole('button', { name: 'Save' });
    await name.fill('Olga Night');
    await page.context().setOffline(true);
    await save.click();
    await page.getByText('This device is offline.').first().waitFor();
    expect(await name.inputValue()).toBe('Olga Night');
    await page.context().setOffline(false);
    await save.click();
    await page.getByText('Your name was changed.').waitFor();
  });
});
