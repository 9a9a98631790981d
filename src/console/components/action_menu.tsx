import { lazy, Suspense, useState } from 'react';

import type { ActionMenuProps } from '#console/components/action_menu_panel.tsx';

const loadPanel = () => import('#console/components/action_menu_panel.tsx');
const ActionMenuPanel = lazy(() => loadPanel().then((m) => ({ default: m.ActionMenuPanel })));

/** A menu behind a button. It is loaded when the button is near. */
export function ActionMenu(props: ActionMenuProps) {
  const [isWanted, setIsWanted] = useState(false);
  const button = props.button({
    'aria-haspopup': 'menu',
    'aria-expanded': false,
    onPointerEnter: () => void loadPanel(),
    onFocus: () => void loadPanel(),
    onClick: () => setIsWanted(true),
  });
  if (!isWanted) return button;
  return (
    <Suspense fallback={button}>
      <ActionMenuPanel {...props} />
    </Suspense>
  );
}
