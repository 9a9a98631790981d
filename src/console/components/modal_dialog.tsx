import { Modal } from '@mantine/core';
import { type ReactNode, useState } from 'react';

import { askThen, type Loss, Losses } from '#console/components/leaving.ts';
import { useCloseOnBack } from '#console/components/use_close_on_back.ts';

export interface DialogProps {
  readonly title: ReactNode;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  readonly size?: string;
  /** Whether the content is shown only once: Escape and a click outside do not close the dialog then. */
  readonly isShownOnce?: boolean;
  readonly children: ReactNode;
}

/** Implementation of `Dialog`, in a file that is loaded when the first dialog is near. */
export function ModalDialog({ title, onClose, isWide = false, size, isShownOnce = false, children }: DialogProps) {
  const [losses] = useState(() => new Set<{ readonly loss: Loss }>());
  const close = (): void => askThen([...losses][0]?.loss, onClose);
  useCloseOnBack(true, close);
  return (
    <Modal
      opened
      onClose={close}
      title={title}
      size={size ?? (isWide ? 'lg' : 'md')}
      withCloseButton={!isShownOnce}
      closeOnClickOutside={!isShownOnce}
      closeOnEscape={!isShownOnce}
    >
      <Losses value={losses}>{children}</Losses>
    </Modal>
  );
}
