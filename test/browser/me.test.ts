import { createECDH, randomBytes } from 'node:crypto';

import { expect, test } from 'vitest';

import { inBrowser } from '#test/browser/chromium.ts';
import { Temporal } from '#kernel/time.ts';
import { type ConsoleWorld, openConsole } from '#test/browser/console_world.ts';
import { PASSWORD, signedIn } from '#test/kit/browser.ts';

/** Replaces the push service of the browser's vendor. */
function pushServiceStub(): string {
  const pair = createECDH('prime256v1');
  pair.generateKeys();
  const subscription = {
    endpoint: 'https://push.example.com/send/1',
    keys: { p256dh: pair.getPublicKey('base64url'), auth: randomBytes(16).toString('base64url') },
  };
  return `
    let subscribed = false;
    const subscription = {
      ...${JSON.stringify(subscription)},
      toJSON: () => (${JSON.stringify(subscription)}),
      unsubscribe: async () => { subscribed = false; return true; },
    };
    PushManager.prototype.subscribe = async () => { subscribed = true; return subscription; };
    PushManager.prototype.getSubscription = async () => (subscribed ? subscription : null);
    Notification.requestPermission = async () => 'granted';`;
}

/** An incident that pages the person by mail, and the link in it that acknowledges. */
async function pageBySomething(h: ConsoleWorld, userId: string) {
  const { serviceId } = await h.given.service({ name: 'checkout' });
  const { teamId } = await h.expectOk('create_team', { name: 'Platform' });
  const steps = [{ afterMinutes: 0, channels: ['email'], targetUserIds: [userId] }];
  const { policyId } = await h.expectOk('create_escalation_policy', { teamId, name: 'Mail', steps });
  const incidentId = await h.incident(serviceId, 'Checkout is slow', { escalationPolicyId: policyId });
  const notifications = async () => (await h.expectOk('get_incident', { incidentId })).notifications;
  await expect.poll(notifications, { timeout: 30_000 }).toHaveLength(1);
  const [{ notificationId, at }] = await notifications();
  const message = { notificationId, createdAt: Temporal.Instant.from(at) };
  return { incidentId, url: h.context.answerLinks.urlOf('acknowledge', message) };
}

inBrowser('the Me page', () => {
  test('a device is added, named and removed', async () => {
    const h = await openConsole();
    const { page } = await h.visitor({ role: 'responder', name: 'Anna', permissions: ['notifications'] });
    await page.addInitScript(pushServiceStub());
    await page.goto(`${h.baseUrl}/me`);
    await page.getByRole('button', { name: 'Add this device' }).click();
    await page.getByText('this device', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Remove Chrome on Linux' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('button', { name: 'Add this device' }).waitFor();
    const audited = await h.context.db.sql.rows<{ action: string }>(
      `select action from audit_log where action like '%push_subscription' order by id`,
    );
    expect(audited.map(({ action }) => action)).toEqual(['create_push_subscription', 'delete_push_subscription']);
  });

  test('a page that arrives by push is shown with its buttons, and one press on it acknowledges', async () => {
    const h = await openConsole();
    const { page, userId } = await h.visitor({ role: 'responder', permissions: ['notifications'] });
    const { incidentId, url: acknowledgeUrl } = await pageBySomething(h, userId);
    await page.evaluate('navigator.serviceWorker.ready.then(() => true)');
    const devtools = await page.context().newCDPSession(page);
    const registered = new Promise<string>((resolve) => {
      devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
        const [first] = registrations;
        if (first !== undefined) resolve(first.registrationId);
      });
    });
    await devtools.send('ServiceWorker.enable');
    const text = {
      title: 'checkout: Checkout is slow',
      body: 'Incident 7, severity error.',
      tag: 'incident_1',
      url: `${h.baseUrl}/incidents/incident_1`,
      actions: [{ action: 'acknowledge', title: 'Acknowledge', url: acknowledgeUrl }],
    };
    const registrationId = await registered;
    // A busy browser may lose a push message. One of the same tag takes the place of the one before.
    const deliver = () =>
      devtools.send('ServiceWorker.deliverPushMessage', {
        origin: h.baseUrl,
        registrationId,
        data: JSON.stringify(text),
      });
    const shown = async () => {
      await deliver();
      return await page.evaluate<{ title: string; tag: string; actions: string[] }[]>(
        `navigator.serviceWorker.ready.then((worker) => worker.getNotifications()).then((all) =>
          all.map(({ title, tag, actions }) => ({ title, tag, actions: actions.map(({ action }) => action) })))`,
      );
    };
    await expect
      .poll(shown, { interval: 500 })
      .toEqual([{ title: text.title, tag: 'incident_1', actions: ['acknowledge'] }]);

    // As the system does when somebody presses the button of the notification.
    await page.context().serviceWorkers()[0]!.evaluate(`registration.getNotifications().then(([notification]) =>
      dispatchEvent(new NotificationEvent('notificationclick', { notification, action: 'acknowledge' })))`);
    const statusOf = async () => (await h.expectOk('get_incident', { incidentId })).status;
    await expect.poll(statusOf, { timeout: 30_000 }).toBe('acknowledged');
    const bodies = () =>
      page.evaluate<string[]>(
        `navigator.serviceWorker.ready.then((worker) => worker.getNotifications()).then((all) => all.map(({ body }) => body))`,
      );
    await expect.poll(bodies, { timeout: 30_000 }).toEqual(['You have acknowledged it.']);
  });

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
    await page.getByRole('button', { name: 'Save' }).first().click();
    await page.getByText('Include the country code').waitFor();
    await page.getByRole('region', { name: 'Platform' }).getByLabel('Phone', { exact: true }).fill('+31 6 1234 5678');
    await page.getByRole('region', { name: 'Platform' }).getByRole('switch', { name: 'Phone call' }).press('Space');
    await page.getByRole('button', { name: 'Save' }).first().click();
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
});
