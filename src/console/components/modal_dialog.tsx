import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';

export interface DialogProps {
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  /** A width of its own. */
  readonly size?: string;
  /** It shows something only once, so Escape and a click outside do not close it. */
  readonly isShownOnce?: boolean;
  readonly children: ReactNode;
}

/** What `Dialog` is made of, in a file that is loaded when the first dialog is near. */
export function ModalDialog({ title, onClose, isWide = false, size, isShownOnce = false, children }: DialogProps) {
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
