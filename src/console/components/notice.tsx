import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { IconAlertTriangle, IconArrowBackUp, IconCheck } from '@tabler/icons-react';
import type { ReactNode } from 'react';

import { errorMessage } from '#console/components/error_alert.tsx';
import classes from '#console/components/notice.module.css';
import { useShortcut } from '#console/shell/keyboard.ts';

/** Time for which a change can be undone, in milliseconds. The server holds back its messages for as long. */
const UNDO_MS = 10_000;

const FRAME = { withBorder: true, closeButtonProps: { 'aria-label': 'Close this notice' } } as const;

/** Id of the last notice without a button. */
let lastSaid: string | null = null;

/** Shows briefly that something was done. It replaces the previous notice: two at once would cover too much. */
export function showSuccess(message: ReactNode): void {
  if (lastSaid !== null) notifications.hide(lastSaid);
  lastSaid = notifications.show({ message, color: 'green', icon: <IconCheck size={18} />, ...FRAME });
}

/** Shows that something was done, with an offer to undo it for 10 s, by a button or the letter u. */
export function showUndoable(message: ReactNode, undo: () => void): void {
  const undoOnce = (): void => {
    notifications.hide(id);
    undo();
  };
  const id = notifications.show({
    message: <Undoable onUndo={undoOnce}>{message}</Undoable>,
    color: 'green',
    icon: <IconCheck size={18} />,
    ...FRAME,
    autoClose: UNDO_MS,
  });
}

function Undoable({ onUndo, children }: { readonly onUndo: () => void; readonly children: ReactNode }) {
  useShortcut('u', onUndo);
  return (
    <div className={classes.undoable}>
      <span className="grow">{children}</span>
      <Button size="xs" variant="default" leftSection={<IconArrowBackUp size={16} />} onClick={onUndo}>
        Undo
      </Button>
    </div>
  );
}

/** Shows what failed and why. It is shown longer than a success. */
export function showError(title: ReactNode, error: unknown): void {
  notifications.show({
    title,
    message: errorMessage(error),
    color: 'red',
    icon: <IconAlertTriangle size={18} />,
    ...FRAME,
    autoClose: 12_000,
    role: 'alert',
  });
}
