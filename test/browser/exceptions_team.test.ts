import { expect, test } from 'vitest';

import { storesOf } from '#modules/stores.ts';
import { DESK, inBrowser, PHONE } from '#test/browser/chromium.ts';
import { openConsole } from '#test/browser/console_world.ts';
import { eventAt, groupAndStore } from '#test/modules/exceptions/given_events.ts';

inBrowser('exceptions worked on by a team', () => {
  test.each([
    ['at a desk', DESK],
    ['on a phone', PHONE],
  ])('somebody takes an exception, discusses it, snoozes it and finds it again %s', async (_where, viewport) => {
    const h = await openConsole();
    const { serviceId } = await h.given.service({ name: 'checkout' });
    const events = ['42', '43'].map((id) =>
      eventAt(h, {
        ago: { minutes: 5 },
        tags: { customer: 'acme' },
        release: '1.2.0',
        user: { id, email: null, username: null, ip: null },
      }),
    );
    const [group] = await groupAndStore(h, serviceId, events);
    const { groupId } = group!;
    const { exceptionCounts } = storesOf(h.context.db.session());
    await exceptionCounts.markDue([groupId], h.clock.now());
    await expect.poll(async () => (await exceptionCounts.find([groupId])).size).toBe(1);
    const { page } = await h.visitor({ path: `/exceptions/${groupId}`, viewport, name: 'Olga' });

    await page.getByRole('button', { name: 'Assign', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Assign to me' }).click();
    await page.getByText('Exception assigned to').waitFor();
    await page.getByRole('textbox', { name: 'Add a comment' }).fill('The bank is down.');
    const history = page.getByRole('region', { name: 'Comments and history' });
    await history.getByRole('button', { name: 'Comment', exact: true }).click();
    await history.getByText('The bank is down.').waitFor();
    if (viewport === PHONE) {
      await page.getByRole('button', { name: 'More about this exception' }).click();
      await page.getByRole('menuitem', { name: 'Snooze until …' }).click();
      await page.getByRole('textbox', { name: 'Or after this many more events' }).fill('100');
      await page.getByRole('button', { name: 'Snooze', exact: true }).click();
    } else {
      await page.getByRole('button', { name: 'Snooze', exact: true }).click();
      await page.getByRole('menuitem', { name: 'Snooze until 100 more events' }).click();
    }
    await page.getByText('Snoozed', { exact: true }).waitFor();
    await history.getByText('snoozed it until 100 more events').waitFor();
    expect(await h.expectOk('get_exception_group', { groupId })).toMatchObject({ status: 'ignored' });

    await page.getByRole('button', { name: '2 users' }).click();
    await page.getByRole('dialog').getByRole('link', { name: '42' }).click();
    await page.waitForURL(/q=user/);
    await page.getByRole('heading', { level: 1, name: 'Exceptions' }).waitFor();
    await page.goBack();
    await page.getByTitle('Exceptions with customer acme').last().click();
    await page.waitForURL(/q=tag.customer/);
    await page.goto(`${h.baseUrl}/exceptions?status=all&assigned=me&q=tag.customer%3Aacme`);
    await page.locator('li[data-row]').filter({ hasText: 'Olga' }).waitFor();
    const search = page.getByRole('textbox', { name: 'Search exceptions' });
    if (viewport === PHONE) await page.getByRole('button', { name: /^Filters/ }).click();
    await search.fill('colour:red');
    await page.getByText('for a tag write tag.colour:red').waitFor();
  });
});
