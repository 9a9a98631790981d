import { useEffect, useRef, useState } from 'react';

import { useCloseOnBack } from '#console/components/use_close_on_back.ts';

/**
 * Opens a menu that was loaded because its button was pressed: it opens as soon as it is loaded, and returns the focus
 * to its button, which replaced the one that was pressed.
 */
export function useOpenedMenu() {
  const [isOpen, setIsOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    button.current?.focus({ preventScroll: true });
    setIsOpen(true);
  }, []);
  useCloseOnBack(isOpen, () => setIsOpen(false));
  return { isOpen, setIsOpen, button };
}
