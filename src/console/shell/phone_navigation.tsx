import { UnstyledButton } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useLocation } from '@tanstack/react-router';
import { useState } from 'react';

import { lazyPart } from '#console/components/lazy_part.tsx';
import { useCloseOnBack } from '#console/components/use_close_on_back.ts';
import { useNavigation } from '#console/shell/navigation.ts';
import { NavigationLink } from '#console/shell/navigation_link.tsx';
import classes from '#console/shell/shell.module.css';

const PhoneSheet = lazyPart(() => import('#console/shell/phone_sheet.tsx').then((m) => m.PhoneSheet));

/** Bar at the bottom of a phone: the pages needed most, and a sheet with the others. */
export function PhoneNavigation() {
  const [isOpen, setIsOpen] = useState(false);
  const close = (): void => setIsOpen(false);
  useCloseOnBack(isOpen, close);
  const { main } = useNavigation();
  const { pathname } = useLocation();
  const isElsewhere = main.some(({ to, isInBar }) => !isInBar && `${pathname}/`.startsWith(`${to}/`));
  return (
    <nav className={classes.bottom} aria-label="Main navigation, on a phone">
      {main
        .filter(({ isInBar }) => isInBar)
        .map((entry) => (
          <NavigationLink key={entry.to} entry={entry} />
        ))}
      <UnstyledButton
        className={classes.link}
        data-status={isElsewhere ? 'active' : undefined}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onPointerDown={PhoneSheet.preload}
        onClick={() => setIsOpen(true)}
      >
        <IconDots size={20} stroke={1.75} aria-hidden />
        More
      </UnstyledButton>
      {isOpen && <PhoneSheet onClose={close} />}
    </nav>
  );
}
