// @vitest-environment happy-dom
import { act, fireEvent, screen } from '@testing-library/react';
import { beforeEach, describe, expect, test, vi } from 'vitest';

import { IconBell } from '#console/icons.ts';
import { focusedRowId, setShortcutsEnabled, useShortcut, useShortcuts } from '#console/shell/keyboard.ts';
import { NavigationContext } from '#console/shell/navigation.tsx';
import { renderInConsole } from '#test/console/in_console.tsx';

const onHelp = vi.fn<() => void>();
const onAcknowledge = vi.fn<() => void>();
const isOpening = vi.fn<() => boolean>(() => false);

function Page() {
  useShortcuts({ onHelp, isOpening });
  useShortcut('a', onAcknowledge);
  return (
    <main>
      <input aria-label="Search" />
      <ul>
        {['first', 'second'].map((id) => (
          <li key={id} data-row={id}>
            <a href="#row" data-row-link>
              {id}
            </a>
          </li>
        ))}
      </ul>
    </main>
  );
}

const incidents = {
  to: '/incidents',
  label: 'Incidents',
  icon: IconBell,
  key: 'i',
  group: 'respond',
  isInBar: true,
} as const;

const PageWithNavigation = () => (
  <NavigationContext value={{ main: [incidents], settings: [] }}>
    <Page />
  </NavigationContext>
);

const press = (key: string, init: KeyboardEventInit = {}, target: Element = document.body): void =>
  act(() => void fireEvent.keyDown(target, { key, ...init }));

beforeEach(() => {
  vi.clearAllMocks();
  isOpening.mockReturnValue(false);
  setShortcutsEnabled(true);
});

describe('shortcuts', () => {
  test('call what a component has bound, and only while it is mounted', async () => {
    const { unmount } = await renderInConsole(<Page />);
    press('a');
    press('?');
    expect([onAcknowledge.mock.calls.length, onHelp.mock.calls.length]).toEqual([1, 1]);
    unmount();
    press('a');
    expect(onAcknowledge).toHaveBeenCalledOnce();
  });

  test('do nothing in a field, with a modifier, when held down, or when turned off', async () => {
    await renderInConsole(<Page />);
    press('a', {}, screen.getByLabelText('Search'));
    press('a', { ctrlKey: true });
    press('a', { repeat: true });
    setShortcutsEnabled(false);
    press('a');
    expect(onAcknowledge).not.toHaveBeenCalled();
  });

  test('do nothing while a dialog is open or loading', async () => {
    await renderInConsole(<Page />);
    isOpening.mockReturnValue(true);
    press('a');
    isOpening.mockReturnValue(false);
    const dialog = document.createElement('div');
    dialog.role = 'dialog';
    dialog.checkVisibility = () => true;
    document.body.append(dialog);
    press('a');
    dialog.remove();
    expect(onAcknowledge).not.toHaveBeenCalled();
    press('a');
    expect(onAcknowledge).toHaveBeenCalledOnce();
  });

  test('g and a letter open a page; a letter that names none does nothing, also no other shortcut', async () => {
    const { router } = await renderInConsole(<PageWithNavigation />, { paths: ['/incidents'] });
    press('g');
    press('a');
    expect([onAcknowledge.mock.calls.length, router.state.location.pathname]).toEqual([0, '/']);
    press('g');
    const loaded = new Promise<void>((resolve) => router.subscribe('onResolved', () => resolve()));
    press('i');
    await loaded;
    expect(router.state.location.pathname).toBe('/incidents');
  });

  test('j and k move between rows, and stop at the ends', async () => {
    await renderInConsole(<Page />);
    const visited = ['j', 'j', 'j', 'k', 'k'].map((key) => {
      press(key);
      return focusedRowId();
    });
    expect(visited).toEqual(['first', 'second', 'second', 'first', 'first']);
  });
});
