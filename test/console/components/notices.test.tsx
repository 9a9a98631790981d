import { MantineProvider } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { cleanup, render, screen } from '@testing-library/react';
import { afterEach, expect, test } from 'vitest';

import { Notices } from '#console/app.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

afterEach(cleanup);

test('a notice that comes before what shows notices waits for it', async () => {
  notifications.show({ message: 'The note is deleted.' });
  render(
    <MantineProvider env="test">
      <Notices />
    </MantineProvider>,
  );
  expect(await screen.findByText('The note is deleted.', {}, PATIENTLY)).toBeTruthy();
});
