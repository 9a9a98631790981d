import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';

import { useCloseOnBack } from '#console/components/use_close_on_back.ts';

interface DialogProps {
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  /** What it shows is seen only this once: a tap beside it does not lose it. */
  readonly isShownOnce?: boolean;
  readonly children: ReactNode;
}

/** What lies above a page until it is dealt with. Escape, a tap beside it and Back close it. */
export function Dialog({ title, onClose, isWide = false, isShownOnce = false, children }: DialogProps) {
  useCloseOnBack(true, onClose);
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size={isWide ? 'lg' : 'md'}
      closeOnClickOutside={!isShownOnce}
      closeOnEscape={!isShownOnce}
    >
      {children}
    </Modal>
  );
}
