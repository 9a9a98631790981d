// @vitest-environment happy-dom
import { fireEvent, screen } from '@testing-library/react';
import { expect, test, vi } from 'vitest';

import { ActionMenu } from '#console/components/action_menu.tsx';
import { renderInConsole } from '#test/console/in_console.tsx';
import { PATIENTLY } from '#test/console/long_wait.ts';

test('a menu whose file was loaded because its button was pressed opens at once', async () => {
  const remove = vi.fn<() => void>();
  await renderInConsole(
    <ActionMenu
      button={(props) => (
        <button type="button" {...props}>
          More
        </button>
      )}
      entries={[{ text: 'Edit' }, { text: 'Delete', isDangerous: true, onClick: remove }]}
    />,
  );
  fireEvent.click(screen.getByRole('button', { name: 'More' }));
  const entry = await screen.findByRole('menuitem', { name: 'Delete' }, PATIENTLY);
  expect(screen.getByRole('button', { name: 'More' }).getAttribute('aria-expanded')).toBe('true');
  fireEvent.click(entry);
  expect(remove).toHaveBeenCalledOnce();
});
