import { lazy, Suspense, useState } from 'react';

import { UserButton } from '#console/shell/user_button.tsx';

const loadPanel = () => import('#console/shell/user_menu_panel.tsx');
const UserMenuPanel = lazy(() => loadPanel().then((m) => ({ default: m.UserMenuPanel })));

interface UserMenuProps {
  readonly onKeyboardHelp: () => void;
  readonly isCompact?: boolean;
}

/** Account, theme, help and logging out. */
export function UserMenu({ onKeyboardHelp, isCompact = false }: UserMenuProps) {
  const [isWanted, setIsWanted] = useState(false);
  const button = (
    <UserButton
      isCompact={isCompact}
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={() => void loadPanel()}
      onFocus={() => void loadPanel()}
      onClick={() => setIsWanted(true)}
    />
  );
  if (!isWanted) return button;
  return (
    <Suspense fallback={button}>
      <UserMenuPanel onKeyboardHelp={onKeyboardHelp} isCompact={isCompact} />
    </Suspense>
  );
}
