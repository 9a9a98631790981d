import { notifications } from '@mantine/notifications';
import { IconAlertTriangle, IconCheck } from '@tabler/icons-react';

import { messageOf } from '#console/parts/failure.tsx';

/** Says briefly that something was done. */
export function tellDone(message: string): void {
  notifications.show({ message, color: 'green', icon: <IconCheck size={18} />, withBorder: true });
}

/** Says that something could not be done, and why; it stays for longer. */
export function tellFailed(title: string, error: unknown): void {
  notifications.show({
    title,
    message: messageOf(error),
    color: 'red',
    icon: <IconAlertTriangle size={18} />,
    withBorder: true,
    autoClose: 12_000,
    role: 'alert',
  });
}
