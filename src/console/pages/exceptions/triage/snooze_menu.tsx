import { Button } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconChevronDown } from '@tabler/icons-react';
import { useState } from 'react';

import { ActionMenu } from '#console/components/action_menu.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { serverNow } from '#console/api/http.ts';
import { useSnooze } from '#console/pages/exceptions/triage/use_set_status.ts';
import { useShortcut } from '#console/shell/keyboard.ts';

const SnoozeDialog = lazyDialog(() =>
  import('#console/pages/exceptions/triage/snooze_dialog.tsx').then((m) => m.SnoozeDialog),
);

interface SnoozeMenuProps {
  readonly groupIds: readonly string[];
  readonly onDone?: () => void;
}

const HOUR_MS = 3_600_000;
const EVENTS = 100;

/** Menu beside the button that ignores, for exceptions that are to come back by themselves. */
export function SnoozeMenu({ groupIds, onDone }: SnoozeMenuProps) {
  const [isChoosing, setIsChoosing] = useState(false);
  const snoozing = useSnooze();
  // On a phone the buttons are at the bottom, above the navigation.
  const isPhone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const snooze = (end: { readonly until?: string; readonly events?: number }) => (): void => {
    if (groupIds.length > 0) snoozing.mutate({ groupIds, ...end }, { onSuccess: () => onDone?.() });
  };
  const inHours = (hours: number): string => new Date(serverNow() + hours * HOUR_MS).toISOString();
  useShortcut('z', () => setIsChoosing(true));
  return (
    <>
      <ActionMenu
        position={isPhone ? 'top-end' : 'bottom-end'}
        button={(props) => (
          <Button
            size="sm"
            px="xs"
            variant="default"
            style={{ flex: 'none' }}
            loading={snoozing.isPending}
            aria-label="Snooze"
            {...props}
          >
            <IconChevronDown size={18} />
          </Button>
        )}
        entries={[
          { text: 'Snooze for an hour', onClick: () => snooze({ until: inHours(1) })() },
          { text: 'Snooze for a day', onClick: () => snooze({ until: inHours(24) })() },
          { text: 'Snooze for a week', onClick: () => snooze({ until: inHours(7 * 24) })() },
          { text: `Snooze until ${EVENTS} more events`, onClick: snooze({ events: EVENTS }) },
          { text: 'Snooze until …', onClick: () => setIsChoosing(true) },
        ]}
      />
      {isChoosing && (
        <SnoozeDialog
          groupIds={groupIds}
          onClose={(isDone) => {
            setIsChoosing(false);
            if (isDone) onDone?.();
          }}
        />
      )}
    </>
  );
}
