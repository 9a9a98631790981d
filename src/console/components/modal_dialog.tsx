import { Modal } from '@mantine/core';

import type { DialogProps } from '#console/components/dialog.tsx';

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
