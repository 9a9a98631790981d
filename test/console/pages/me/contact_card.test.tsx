// @vitest-environment happy-dom
import { fireEvent, screen } from '@testing-library/react';
import { expect, test } from 'vitest';

import type { Me, TestNotification } from '#console/api/organization.ts';
import { ChannelsCard, ContactCard } from '#console/pages/me/contact_card.tsx';
import { renderInConsole, serve } from '#test/console/in_console.tsx';

const SENT: TestNotification = {
  notificationId: 'n_1',
  channel: 'sms',
  to: '+31••••••78',
  status: 'delivered',
  reason: null,
  isSimulated: true,
  simulatorUrl: 'http://127.0.0.1:7001/token/?number=%2B31612345678',
  updatedAt: '2027-02-01T13:20:00.000Z',
};

async function show(): Promise<HTMLElement> {
  serve(() => SENT);
  const me = {
    channels: [{ channel: 'sms', configured: true }],
    teams: [],
    own: { phone: '+31612345678' },
    pushSubscriptions: [],
  } as unknown as Me;
  await renderInConsole(<ChannelsCard me={me} />);
  return screen.getByRole('button', { name: 'Send a test by SMS' });
}

test('a test that was only simulated leads an owner to the phone that has it', async () => {
  localStorage.setItem('tocsin-tests:org_1:user_1:sms', 'n_1');
  await show();
  expect((await screen.findByRole('link', { name: 'See it in the phone simulator' })).getAttribute('href')).toBe(
    SENT.simulatorUrl,
  );
});

test('the row of a channel has the line of a result before anything was sent, so that nothing moves then', async () => {
  await show();
  expect(screen.getByText('Not tested here yet').style.minHeight).toBe('1.625rem');
});

test('a number is tested where it was entered, and the result shows there', async () => {
  const asked = serve((action) =>
    action === 'send_test_notification' ? { testNotifications: [{ notificationId: 'n_1' }] } : SENT,
  );
  const contact = { phone: '+31612345678', smsEnabled: true, callEnabled: true, emailEnabled: true, pushEnabled: true };
  await renderInConsole(<ContactCard team={null} contact={contact} canSendSms />);
  fireEvent.click(screen.getByRole('button', { name: 'Send a test SMS' }));
  await screen.findByRole('link', { name: 'See it in the phone simulator' });
  expect(asked.map(({ action }) => action)).toEqual(['send_test_notification', 'get_test_notification']);
});
