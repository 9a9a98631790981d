import { useState } from 'react';

import type { ActionMenuProps } from '#console/components/action_menu_panel.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';

const ActionMenuPanel = lazyPart(() =>
  import('#console/components/action_menu_panel.tsx').then((m) => m.ActionMenuPanel),
);

/** Menu behind a button. It is loaded when the pointer or the focus comes near the button. */
export function ActionMenu(props: ActionMenuProps) {
  const [isWanted, setIsWanted] = useState(false);
  const button = props.button({
    'aria-haspopup': 'menu',
    'aria-expanded': false,
    onPointerEnter: ActionMenuPanel.preload,
    onFocus: ActionMenuPanel.preload,
    onClick: () => setIsWanted(true),
  });
  return isWanted ? <ActionMenuPanel {...props} whileLoading={button} /> : button;
}
