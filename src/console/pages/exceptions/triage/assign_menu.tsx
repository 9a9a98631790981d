import { Button } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { IconUserPlus } from '@tabler/icons-react';
import { useState } from 'react';

import { ActionMenu } from '#console/components/action_menu.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { useAssign } from '#console/pages/exceptions/triage/use_assign.ts';
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
  const label = assigneeName === null ? 'Assign' : isolateBidi(assigneeName);
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
            {...(isPhone
              ? { px: 'xs', style: { flex: 'none' }, 'aria-label': label }
              : { leftSection: <IconUserPlus size={16} /> })}
            {...props}
          >
            {isPhone ? <IconUserPlus size={18} /> : label}
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
