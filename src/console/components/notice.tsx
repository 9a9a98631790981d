import { Button } from '@mantine/core';
import { type NotificationData, notifications } from '@mantine/notifications';
import type { ReactNode } from 'react';

import { errorMessage } from '#console/components/error_alert.tsx';
import classes from '#console/components/notice.module.css';
import { IconAlertTriangle, IconArrowBackUp, IconCheck } from '#console/icons.ts';
import { useShortcut } from '#console/shell/keyboard.ts';

/** Time for which a change can be undone, in milliseconds. The server holds back its messages for as long. */
const UNDO_MS = 10_000;
/** Time for which what is not well is shown, in milliseconds. */
const LONG_MS = 12_000;

const FRAME = { withBorder: true, closeButtonProps: { 'aria-label': 'Close this notice' } } as const;

/** Id of the last notice without a button. */
let lastSaid: string | null = null;

/**
 * Shows briefly that something was done, and for longer what is not well about it. It replaces the previous notice: two
 * at once would cover too much.
 */
export function showSuccess(message: ReactNode, warnings: readonly string[] = []): void {
  if (lastSaid !== null) notifications.hide(lastSaid);
  lastSaid = notifications.show(framed(message, warnings));
}

/** Returns a notice that is green, or amber with what is not well below its message. */
function framed(message: ReactNode, warnings: readonly string[]): NotificationData {
  if (warnings.length === 0) return { message, color: 'green', icon: <IconCheck size={18} />, ...FRAME };
  const lines = warnings.map((warning) => <div key={warning}>{warning}</div>);
  const icon = <IconAlertTriangle size={18} />;
  return { title: message, message: lines, color: 'yellow', icon, ...FRAME, autoClose: LONG_MS };
}

/** Shows that something was done, with an offer to undo it for 10 s, by a button or the letter u. */
export function showUndoable(message: ReactNode, undo: () => void, warnings: readonly string[] = []): void {
  const undoOnce = (): void => {
    notifications.hide(id);
    undo();
  };
  const { title, message: said, ...frame } = framed(message, warnings);
  const id = notifications.show({
    ...frame,
    title,
    message: <Undoable onUndo={undoOnce}>{said}</Undoable>,
    autoClose: UNDO_MS,
  });
}

function Undoable({ onUndo, children }: { readonly onUndo: () => void; readonly children: ReactNode }) {
  useShortcut('u', onUndo);
  return (
    <div className={`${classes.undoable} row`}>
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
    autoClose: LONG_MS,
    role: 'alert',
  });
}
