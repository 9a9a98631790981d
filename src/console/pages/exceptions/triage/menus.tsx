import { Button } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { useState } from 'react';

import { serverNow } from '#console/api/http.ts';
import { ActionMenu } from '#console/components/action_menu.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { IconChevronDown, IconUserPlus } from '#console/icons.ts';
import { useAssign } from '#console/pages/exceptions/triage/use_assign.ts';
import { useResolveInRelease, useSnooze } from '#console/pages/exceptions/triage/use_set_status.ts';
import { useShortcut } from '#console/shell/keyboard.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const AssignDialog = lazyDialog(() =>
  import('#console/pages/exceptions/triage/assign_dialog.tsx').then((m) => m.AssignDialog),
);

interface AssignMenuProps {
  readonly groupIds: readonly string[];
  /** Name of who works on it now; null for nobody, or for several exceptions. */
  readonly assigneeName: string | null;
  readonly onDone?: () => void;
}

/** Menu that assigns exceptions: to oneself in one step, to anybody else by a dialog. */
export function AssignMenu({ groupIds, assigneeName, onDone }: AssignMenuProps) {
  const { session } = useOrganization();
  const [isChoosing, setIsChoosing] = useState(false);
  const assigning = useAssign();
  const isPhone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const assign = (to: { readonly userId: string } | null): void => {
    if (groupIds.length > 0) assigning.mutate({ groupIds, to }, { onSuccess: () => onDone?.() });
  };
  useShortcut('a', () => setIsChoosing(true));
  return (
    <>
      <ActionMenu
        position={isPhone ? 'top-end' : 'bottom-end'}
        button={(props) => (
          <Button
            size="sm"
            variant="default"
            loading={assigning.isPending}
            {...(assigneeName !== null && { 'aria-label': `Assign, now to ${isolateBidi(assigneeName)}` })}
            leftSection={isPhone ? undefined : <IconUserPlus size={16} />}
            {...props}
          >
            Assign
          </Button>
        )}
        entries={[
          { text: 'Assign to me', onClick: () => assign({ userId: session.user.userId }) },
          { text: 'Assign to a person or team …', onClick: () => setIsChoosing(true) },
          { text: 'Assign to nobody', isApart: true, onClick: () => assign(null) },
        ]}
      />
      {isChoosing && (
        <AssignDialog
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

export const SnoozeDialog = lazyDialog(() =>
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

const ResolveInRelease = lazyDialog(() =>
  import('#console/pages/exceptions/triage/resolve_in_release.tsx').then((m) => m.ResolveInRelease),
);

interface ResolveMenuProps {
  readonly groupIds: readonly string[];
  /** Service whose releases are offered; null for exceptions of several services. */
  readonly serviceId: string | null;
  readonly size?: string;
  readonly onDone?: () => void;
}

/** Menu beside the button that resolves, for fixes that are not deployed yet. */
export function ResolveMenu({ groupIds, serviceId, size = 'sm', onDone }: ResolveMenuProps) {
  const [isNaming, setIsNaming] = useState(false);
  const resolving = useResolveInRelease();
  // On a phone the buttons are at the bottom, above the navigation.
  const isPhone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const resolveInNext = (): void => {
    if (groupIds.length > 0) resolving.mutate({ groupIds }, { onSuccess: onDone });
  };
  useShortcut('R', resolveInNext);
  return (
    <>
      <ActionMenu
        position={isPhone ? 'top-end' : 'bottom-end'}
        button={(props) => (
          <Button
            size={size}
            px="xs"
            variant="light"
            style={{ flex: 'none' }}
            loading={resolving.isPending}
            aria-label="Fixed in a release"
            {...props}
          >
            <IconChevronDown size={18} />
          </Button>
        )}
        entries={[
          { text: 'Fixed in the next release (resolves its open incident, too)', onClick: resolveInNext },
          { text: 'Fixed in a release …', onClick: () => setIsNaming(true) },
        ]}
      />
      {isNaming && (
        <ResolveInRelease
          groupIds={groupIds}
          serviceId={serviceId}
          onClose={(isDone) => {
            setIsNaming(false);
            if (isDone) onDone?.();
          }}
        />
      )}
    </>
  );
}
