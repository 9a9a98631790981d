import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';

import { useBackCloses } from '#console/parts/back_closes.ts';

interface DialogProps {
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  /** What it shows is seen only this once: a tap beside it does not lose it. */
  readonly isPrecious?: boolean;
  readonly children: ReactNode;
}

/** What lies above a page until it is dealt with. Escape, a tap beside it and Back close it. */
export function Dialog({ title, onClose, isWide = false, isPrecious = false, children }: DialogProps) {
  useBackCloses(true, onClose);
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size={isWide ? 'lg' : 'md'}
      closeOnClickOutside={!isPrecious}
      closeOnEscape={!isPrecious}
    >
      {children}
    </Modal>
  );
}
