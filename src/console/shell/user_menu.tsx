import { useState } from 'react';

import { lazyPart } from '#console/components/lazy_part.tsx';
import { UserButton } from '#console/shell/user_button.tsx';

const UserMenuPanel = lazyPart(() => import('#console/shell/user_menu_panel.tsx').then((m) => m.UserMenuPanel));

interface UserMenuProps {
  readonly onKeyboardHelp: () => void;
  readonly isCompact?: boolean;
}

/** Menu of account, theme, help and signing out. */
export function UserMenu({ onKeyboardHelp, isCompact = false }: UserMenuProps) {
  const [isWanted, setIsWanted] = useState(false);
  const button = (
    <UserButton
      isCompact={isCompact}
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={UserMenuPanel.preload}
      onFocus={UserMenuPanel.preload}
      onClick={() => setIsWanted(true)}
    />
  );
  if (!isWanted) return button;
  return <UserMenuPanel onKeyboardHelp={onKeyboardHelp} isCompact={isCompact} whileLoading={button} />;
}
