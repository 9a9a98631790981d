import { createECDH, randomBytes } from 'node:crypto';

import { expect, test } from 'vitest';

import { Temporal } from '#kernel/time.ts';
import { inBrowser } from '#test/browser/chromium.ts';
import { type ConsoleWorld, openConsole } from '#test/browser/console_world.ts';

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
async function openPagingIncident(h: ConsoleWorld, userId: string) {
  const { serviceId } = await h.given.service({ name: 'checkout' });
  const { teamId } = await h.expectOk('create_team', { name: 'Platform' });
  const steps = [{ afterMinutes: 0, channels: ['email'], targetUserIds: [userId] }];
  const { policyId } = await h.expectOk('create_escalation_policy', { teamId, name: 'Mail', steps });
  const incidentId = await h.incident(serviceId, 'Checkout is slow', { escalationPolicyId: policyId });
  const notifications = async () => (await h.expectOk('get_incident', { incidentId })).notifications;
  await expect.poll(notifications).toHaveLength(1);
  const [{ notificationId, at }] = await notifications();
  const message = { notificationId, createdAt: Temporal.Instant.from(at) };
  return { incidentId, url: h.context.answerLinks.urlOf('acknowledge', message) };
}

inBrowser(
  'push',
  () => {
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
      const { incidentId, url: acknowledgeUrl } = await openPagingIncident(h, userId);
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

      // Does what the system does when somebody presses the button of the notification.
      await page.context().serviceWorkers()[0]!.evaluate(`registration.getNotifications().then(([notification]) =>
      dispatchEvent(new NotificationEvent('notificationclick', { notification, action: 'acknowledge' })))`);
      const statusOf = async () => (await h.expectOk('get_incident', { incidentId })).status;
      await expect.poll(statusOf).toBe('acknowledged');
      const bodies = () =>
        page.evaluate<string[]>(
          `navigator.serviceWorker.ready.then((worker) => worker.getNotifications()).then((all) => all.map(({ body }) => body))`,
        );
      await expect.poll(bodies).toEqual(['You have acknowledged it.']);
    });
  },
  { kind: 'whole' },
);
