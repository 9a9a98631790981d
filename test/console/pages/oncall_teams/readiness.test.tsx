// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { act, cleanup, render, screen } from '@testing-library/react';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import type { Readiness } from '#console/api/teams.ts';
import { ReadinessDetails } from '#console/pages/oncall_teams/readiness.tsx';

const PROVED_AT = '2027-02-01T13:20:00.000Z';
const READINESS: Readiness = {
  answer: 'yes',
  reasons: [],
  deviceCount: 0,
  channels: [
    { channel: 'sms', state: 'ready', provedAt: PROVED_AT },
    { channel: 'email', state: 'ready', provedAt: null },
  ],
};

beforeEach(() => vi.useFakeTimers({ now: Date.parse(PROVED_AT) + 10 * 60_000 }));
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

test('says of each channel how long ago the last test or page arrived, which grows with time', () => {
  render(
    <MantineProvider env="test">
      <ReadinessDetails readiness={READINESS} />
    </MantineProvider>,
  );
  const sms = () => screen.getByText('SMS').textContent;
  expect(sms()).toBe('SMS arrived 10 min ago');
  expect(screen.getByText(/mail$/i).textContent).not.toMatch(/arrived/);
  vi.setSystemTime(Date.parse(PROVED_AT) + 3 * 86_400_000);
  act(() => void vi.advanceTimersByTime(5_000));
  expect(sms()).toBe('SMS arrived 3 d ago');
});
