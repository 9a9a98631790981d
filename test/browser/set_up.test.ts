import { startPhone } from '@tocsin/phone-simulator';
import type { Locator } from 'playwright-core';
import { expect, onTestFinished, test } from 'vitest';

import { inBrowser, PHONE } from '#test/browser/chromium.ts';
import { openConsole } from '#test/browser/console_world.ts';

const ACCOUNT_SID = `AC${'0'.repeat(32)}`;
const AUTH_TOKEN = 'token of the test account';
const DECISIONS_MAX = 10;

inBrowser('setting up', () => {
  test('a new organization has a real page on its phone after at most ten decisions, without the API', async () => {
    const account = { accountSid: ACCOUNT_SID, authToken: AUTH_TOKEN };
    const phone = await startPhone({ ...account, numbers: [{ e164: '+15005550006', smsUrl: 'http://127.0.0.1/' }] });
    onTestFinished(() => phone.close());
    const settings = {
      twilioAccountSid: ACCOUNT_SID,
      twilioAuthToken: AUTH_TOKEN,
      twilioFrom: '+15005550006',
      twilioApiBase: phone.url,
    };
    const h = await openConsole({ settings });
    const { page } = await h.visitor({ path: '/', viewport: PHONE, isMobile: true, hasTouch: true });
    let decisions = 0;
    const tap = async (target: Locator): Promise<void> => {
      decisions += 1;
      await target.tap();
    };
    const fill = async (target: Locator, text: string): Promise<void> => {
      decisions += 1;
      await target.fill(text);
    };

    await tap(page.getByRole('button', { name: 'Set up paging' }).first());
    const form = page.getByRole('dialog', { name: 'Set up paging' });
    await fill(form.getByLabel('Service'), 'checkout');
    await fill(form.getByLabel('Your phone'), '+31 6 1234 5678');
    await tap(form.getByRole('button', { name: 'Set up' }));
    await form.waitFor({ state: 'detached' });
    await tap(page.getByRole('button', { name: 'Send yourself a page' }));
    await tap(page.getByRole('dialog').getByRole('button', { name: 'Send the page' }));
    await page.getByRole('heading', { name: 'Test page: everything is fine' }).waitFor();
    const sms = await phone.waitForMessage({
      timeoutMs: 30_000,
      to: '+31612345678',
      matching: /Test page: everything is fine/,
    });
    expect(sms.body).toContain('checkout');
    expect(decisions).toBeLessThanOrEqual(DECISIONS_MAX);
    expect((await h.expectOk('list_teams')).teams).toMatchObject([
      { name: 'On call', members: [{ phone: '+31612345678' }], schedules: [{}], escalationPolicies: [{}] },
    ]);
  });
});
