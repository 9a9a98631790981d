import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';

export interface DialogProps {
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  /** Width of the dialog. */
  readonly size?: string;
  /** Whether the content is shown only once: Escape and a click outside do not close the dialog then. */
  readonly isShownOnce?: boolean;
  readonly children: ReactNode;
}

/** Implementation of `Dialog`, in a file that is loaded when the first dialog is near. */
export function ModalDialog({ title, onClose, isWide = false, size, isShownOnce = false, children }: DialogProps) {
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size={size ?? (isWide ? 'lg' : 'md')}
      withCloseButton={!isShownOnce}
      closeOnClickOutside={!isShownOnce}
      closeOnEscape={!isShownOnce}
    >
      {children}
    </Modal>
  );
}
