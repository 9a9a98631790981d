import { useBlocker } from '@tanstack/react-router';

/** What lies above a page is closed by Back, and the page stays: on a phone that is how one leaves a dialog. */
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
