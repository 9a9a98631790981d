import { useState } from 'react';

import type { ActionMenuProps } from '#console/components/action_menu_panel.tsx';
import { inOwnFile } from '#console/components/in_own_file.tsx';

const ActionMenuPanel = inOwnFile(() =>
  import('#console/components/action_menu_panel.tsx').then((m) => m.ActionMenuPanel),
);

/** A menu behind a button. It is loaded when the button is near. */
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
