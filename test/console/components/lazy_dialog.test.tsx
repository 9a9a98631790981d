// @vitest-environment happy-dom
import { act, screen } from '@testing-library/react';
import { StrictMode, useState } from 'react';
import { expect, test } from 'vitest';

import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { renderInConsole } from '#test/console/in_console.tsx';

interface PartProps {
  readonly onClose: () => void;
}

/** The dialog, whose file the returned functions deliver or lose. */
async function open() {
  const asked: PromiseWithResolvers<(props: PartProps) => React.ReactNode>[] = [];
  const Part = lazyDialog<PartProps>(() => {
    const answer = Promise.withResolvers<(props: PartProps) => React.ReactNode>();
    asked.push(answer);
    return answer.promise;
  });
  function Page() {
    const [isOpen, setIsOpen] = useState(true);
    return (
      <>
        <button type="button" onClick={() => setIsOpen(true)}>
          Open
        </button>
        {isOpen && <Part onClose={() => setIsOpen(false)} />}
      </>
    );
  }
  await renderInConsole(
    <StrictMode>
      <Page />
    </StrictMode>,
  );
  return {
    asked,
    deliver: () => act(async () => asked.at(-1)?.resolve(() => <p>The dialog</p>)),
    lose: () => act(async () => asked.at(-1)?.reject(new TypeError('Failed to fetch'))),
    press: () => act(async () => screen.getByRole('button', { name: 'Open' }).click()),
  };
}

test('a dialog counts as open while its file is loading', async () => {
  const { asked, deliver } = await open();
  expect(screen.getByRole('dialog', { name: 'Opening' })).toBeTruthy();
  await deliver();
  expect(screen.queryByRole('dialog', { name: 'Opening' })).toBeNull();
  expect(screen.getByText('The dialog')).toBeTruthy();
  expect(asked).toHaveLength(1);
});

test('a dialog whose file cannot be loaded closes with a notice, and loads when it is opened again', async () => {
  const { asked, deliver, lose, press } = await open();
  await lose();
  expect(screen.queryByRole('dialog')).toBeNull();
  expect(screen.getByText(/This could not be opened/)).toBeTruthy();
  await press();
  expect(asked).toHaveLength(2);
  await deliver();
  expect(screen.getByText('The dialog')).toBeTruthy();
});
