import { Button } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconChevronDown } from '@tabler/icons-react';
import { useState } from 'react';

import { ActionMenu } from '#console/components/action_menu.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { useResolveInRelease } from '#console/pages/exceptions/triage/use_set_status.ts';
import { useShortcut } from '#console/shell/keyboard.ts';

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
          { text: 'Fixed in the next release', onClick: resolveInNext },
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
