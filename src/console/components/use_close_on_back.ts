import { useBlocker, useRouter } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

/**
 * Makes Back close the dialog and stay on the page: on a phone, people leave dialogs this way. Once a link of the dialog
 * has left the page, Back is no longer about the dialog, although this may be shown until the next page is there.
 */
export function useCloseOnBack(isOpen: boolean, close: () => void): void {
  const router = useRouter();
  const openedOn = useRef<string | null>(null);
  useEffect(() => {
    openedOn.current = isOpen ? router.state.location.pathname : null;
  }, [isOpen, router]);
  useBlocker({
    disabled: !isOpen,
    enableBeforeUnload: false,
    shouldBlockFn({ action, current }) {
      if (action !== 'BACK' || current.pathname !== openedOn.current) return false;
      close();
      return true;
    },
  });
}
