import { Button, Menu } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconChevronDown } from '@tabler/icons-react';
import { useState } from 'react';

import { ResolveInRelease } from '#console/pages/exceptions/resolve_in_release.tsx';
import { useResolveInRelease } from '#console/pages/exceptions/use_set_status.ts';
import { useShortcut } from '#console/shell/keyboard.ts';

interface ResolveMenuProps {
  readonly groupIds: readonly string[];
  /** Whose releases are offered; null for exceptions of several services. */
  readonly serviceId: string | null;
  readonly size?: string;
  readonly onDone?: () => void;
}

/** Beside the button that resolves: the same for code that is not deployed yet. */
export function ResolveMenu({ groupIds, serviceId, size = 'sm', onDone }: ResolveMenuProps) {
  const [isNaming, setIsNaming] = useState(false);
  const resolving = useResolveInRelease();
  // There the buttons are at the bottom, above the navigation.
  const isPhone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const resolveInNext = (): void => {
    if (groupIds.length > 0) resolving.mutate({ groupIds }, { onSuccess: onDone });
  };
  useShortcut('R', resolveInNext);
  return (
    <>
      <Menu position={isPhone ? 'top-end' : 'bottom-end'}>
        <Menu.Target>
          <Button
            size={size}
            px="xs"
            variant="light"
            style={{ flex: 'none' }}
            loading={resolving.isPending}
            aria-label="Fixed in a release"
          >
            <IconChevronDown size={18} />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={resolveInNext}>Fixed in the next release</Menu.Item>
          <Menu.Item onClick={() => setIsNaming(true)}>Fixed in a release …</Menu.Item>
        </Menu.Dropdown>
      </Menu>
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
