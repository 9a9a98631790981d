import { useBlocker } from '@tanstack/react-router';

/** Makes Back close the dialog and stay on the page: on a phone, people leave dialogs this way. */
export function useCloseOnBack(isOpen: boolean, close: () => void): void {
  useBlocker({
    disabled: !isOpen,
    enableBeforeUnload: false,
    shouldBlockFn({ action }) {
      if (action !== 'BACK') return false;
      close();
      return true;
    },
  });
}
