// @vitest-environment happy-dom
import { MantineProvider } from '@mantine/core';
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { afterEach, expect, test, vi } from 'vitest';

import { ActionMenu } from '#console/components/action_menu.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

vi.mock('#console/components/use_close_on_back.ts', () => ({ useCloseOnBack: () => {} }));

afterEach(cleanup);

test('a menu whose file was loaded because its button was pressed opens at once', async () => {
  const remove = vi.fn<() => void>();
  render(
    <MantineProvider env="test">
      <ActionMenu
        button={(props) => (
          <button type="button" {...props}>
            More
          </button>
        )}
        entries={[{ text: 'Edit' }, { text: 'Delete', isDangerous: true, onClick: remove }]}
      />
    </MantineProvider>,
  );
  fireEvent.click(screen.getByRole('button', { name: 'More' }));
  const entry = await screen.findByRole('menuitem', { name: 'Delete' }, PATIENTLY);
  expect(screen.getByRole('button', { name: 'More' }).getAttribute('aria-expanded')).toBe('true');
  fireEvent.click(entry);
  expect(remove).toHaveBeenCalledOnce();
});
