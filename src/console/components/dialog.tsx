import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';

import { useCloseOnBack } from '#console/components/use_close_on_back.ts';

interface DialogProps {
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  /** A width of its own. */
  readonly size?: string;
  /** It shows something only once, so Escape and a click outside do not close it. */
  readonly isShownOnce?: boolean;
  readonly children: ReactNode;
}

/** A dialog above the page. Escape, a click outside and Back close it. */
export function Dialog({ title, onClose, isWide = false, size, isShownOnce = false, children }: DialogProps) {
  useCloseOnBack(true, onClose);
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size={size ?? (isWide ? 'lg' : 'md')}
      closeOnClickOutside={!isShownOnce}
      closeOnEscape={!isShownOnce}
    >
      {children}
    </Modal>
  );
}
