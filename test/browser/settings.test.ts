import { readFile } from 'node:fs/promises';

import { expect, test } from 'vitest';

import { inBrowser } from '#test/browser/chromium.ts';
import { openConsole } from '#test/browser/console_world.ts';
import { givenPerson } from '#test/kit/programs/browser.ts';

inBrowser('the settings', () => {
  test('members get another role and are removed', async () => {
    const h = await openConsole();
    const bram = await givenPerson(h, { role: 'editor', name: 'Bram' });
    await h.context.db.sql.run(
      `with made as (
         insert into users (id, email, name, created_at, updated_at)
         select 'user_' || lpad(n::text, 26, '0'), 'p' || n || '@example.com', 'Person ' || n, now(), now()
         from generate_series(1, 60) as n returning id)
       insert into memberships (org_id, user_id, role, created_at) select $1, id, 'viewer', now() from made`,
      [h.orgId],
    );
    const { page } = await h.visitor({ path: '/settings/members' });
    await page.getByText('Every role, including viewer, can reveal the ingestion key').waitFor();
    const search = page.getByLabel('Search members');
    await search.fill('person 60');
    await page
      .getByRole('status')
      .filter({ hasText: /^1 member$/ })
      .waitFor();
    await page.getByLabel('Role of Person 60').waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get('q')).toBe('person 60');
    await search.fill('nobody at all');
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await page.getByLabel('Role', { exact: true }).selectOption('editor');
    await page
      .getByRole('status')
      .filter({ hasText: /^1 member$/ })
      .waitFor();
    await page.getByLabel('Role', { exact: true }).selectOption('');
    const roleOf = async () =>
      (
        await h.context.db.sql.rows<{ role: string }>('select role from memberships where user_id = $1', [bram.userId])
      )[0];
    // An arrow key selects the next role, but changes nothing yet.
    await page.getByLabel('Role of Bram').press('ArrowDown');
    const asked = page.getByRole('dialog', { name: /^Change the role of Bram/ });
    await asked.getByText('Bram is now editor: can change everything').waitFor();
    await asked.getByRole('button', { name: 'Make responder' }).waitFor();
    await page.keyboard.press('Escape');
    await asked.waitFor({ state: 'detached' });
    expect([await roleOf(), await page.getByLabel('Role of Bram').inputValue()]).toEqual([
      { role: 'editor' },
      'editor',
    ]);
    await page.getByLabel('Role of Bram').selectOption('viewer');
    await asked.getByRole('button', { name: 'Make viewer' }).click();
    await page.getByText('Bram is now viewer.').waitFor();
    expect(await roleOf()).toEqual({ role: 'viewer' });
    await page.getByText(bram.userId).waitFor();
    await page.getByRole('button', { name: 'Copy the id of Bram' }).waitFor();
    await page.getByRole('button', { name: 'Remove Bram' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByText('Bram is removed.').waitFor();
    await page.getByText(bram.email).waitFor({ state: 'detached' });
    const left = await h.context.db.sql.rows('select from memberships where user_id = $1', [bram.userId]);
    expect(left).toEqual([]);
  });

  test('a key is shown once, works, and stops working when it is revoked', async () => {
    const h = await openConsole();
    const { page } = await h.visitor({ path: '/settings/api-keys' });
    await page.getByRole('button', { name: 'Create an API key' }).click();
    await page.getByLabel('Name').fill('Deploys');
    await page.getByRole('dialog').getByText('The organization').click();
    await page.getByRole('dialog').getByText('Some things').click();
    await page.getByLabel('See services, their keys and what they send').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
    const key = await page.getByText(/^tocsin_key_\w+$/).innerText();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    await page.getByText(key).waitFor({ state: 'detached' });
    expect((await h.call('list_services', {}, { key })).status).toBe(200);
    expect((await h.call('list_teams', {}, { key })).status).toBe(403);
    await page.getByRole('button', { name: 'Revoke Deploys' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('Deploys is revoked.').waitFor();
    expect((await h.call('list_services', {}, { key })).status).toBe(401);
  });

  test('the audit log is filtered by its address, opened and exported', async () => {
    const h = await openConsole();
    const { serviceId } = await h.given.service({ name: 'checkout', capabilities: [] });
    await h.expectOk('update_service', { serviceId, environment: 'production' });
    const { page } = await h.visitor({ path: '/settings/audit' });
    // Only what the log holds is offered.
    await page.getByRole('button', { name: 'Edit a service: show what changed' }).waitFor();
    await page.getByRole('combobox', { name: 'Action' }).fill('Edit a service');
    await page.keyboard.press('Enter');
    await page.waitForURL(/action=update_service/);
    await page.getByRole('button', { name: 'Log in: show what changed' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Edit a service: show what changed' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit a service' });
    await dialog.getByRole('row', { name: 'Environment null production' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Export' }).click();
    const downloading = page.waitForEvent('download');
    await page.getByRole('menuitem', { name: 'As JSON Lines' }).click();
    const lines = (await readFile(await (await downloading).path(), 'utf8')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).action)).toEqual(['update_service']);
    await page.getByLabel('From').fill('2020-01-01');
    await page.getByLabel('To').fill('2020-01-31');
    await page.getByText('Nothing matches').waitFor();
  });

  test('an owner sees which file manages what, and lets only files change it', async () => {
    const h = await openConsole();
    const { team } = await h.expectOk('create_team', { name: 'Payments' }).then((made) => ({ team: made }));
    await h.context.db.sql.run(
      `insert into managed_resources values ($1, 'team', 'payments', $2, 'tocsin.yaml', true, now(), now())`,
      [h.orgId, team.teamId],
    );
    const { page } = await h.visitor({ path: '/settings/integrations' });
    await page.getByText('tocsin.yaml manages 1 resource').waitFor();
    await page.getByRole('switch', { name: 'People may change by hand what a file manages' }).click();
    await page.getByText('What files manage is changed only by applying a file.').waitFor();
    expect((await h.call('update_team', { teamId: team.teamId, name: 'By hand' })).status).toBe(409);
  });

  test('billing is off until it is switched on, and lists each period by month, only for owners and admins', async () => {
    const h = await openConsole();
    await h.given.service({ name: 'checkout', capabilities: ['metrics', 'oncall'] });
    const olga = await h.visitor({ path: '/settings/billing' });
    const prices = olga.page.getByRole('switch', { name: 'Show what capabilities cost' });
    await prices.waitFor();
    expect(await olga.page.getByText('Metrics, ').count()).toBe(0);
    await prices.press('Space');
    await olga.page.getByText('Metrics, ').first().waitFor();
    await olga.page.getByRole('listitem').getByText('€2.00', { exact: true }).waitFor();
    if (process.env['SCREENSHOTS'] !== undefined)
      await olga.page.screenshot({ path: `${process.env['SCREENSHOTS']}/billing.png` });
    const bram = await h.visitor({ role: 'editor', name: 'Bram', path: '/settings/billing' });
    await bram.page.getByText('For owners and admins').waitFor();
    expect(await bram.page.getByRole('link', { name: 'Audit log' }).count()).toBe(0);
  });
});
