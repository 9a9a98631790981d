import { Modal, UnstyledButton } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import { useLocation } from '@tanstack/react-router';
import { useState } from 'react';

import { useCloseOnBack } from '#console/components/use_close_on_back.ts';
import { NAVIGATION } from '#console/shell/navigation.ts';
import { Place } from '#console/shell/place.tsx';
import classes from '#console/shell/shell.module.css';

const IN_BAR = NAVIGATION.filter(({ isInBar }) => isInBar);
const BEHIND_MORE = NAVIGATION.filter(({ isInBar }) => !isInBar);

/** The bar at the bottom of a phone: the rooms needed most, and a sheet with the others. */
export function PhoneNavigation() {
  const [isOpen, setIsOpen] = useState(false);
  const close = (): void => setIsOpen(false);
  useCloseOnBack(isOpen, close);
  const { pathname } = useLocation();
  const isElsewhere = BEHIND_MORE.some(({ to }) => pathname === to || pathname.startsWith(`${to}/`));
  return (
    <nav className={classes.bottom} aria-label="Main navigation, on a phone">
      {IN_BAR.map((place) => (
        <Place key={place.to} place={place} />
      ))}
      <UnstyledButton
        className={classes.place}
        data-status={isElsewhere ? 'active' : undefined}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        onClick={() => setIsOpen(true)}
      >
        <IconDots size={20} stroke={1.75} aria-hidden />
        More
      </UnstyledButton>
      <Modal
        opened={isOpen}
        onClose={close}
        title="More"
        centered={false}
        classNames={{ inner: classes.sheetInner, content: classes.sheet }}
        transitionProps={{ transition: 'slide-up', duration: 150 }}
      >
        <div className={classes.sheetPlaces}>
          {BEHIND_MORE.map((place) => (
            <Place key={place.to} place={place} onClick={close} />
          ))}
        </div>
      </Modal>
    </nav>
  );
}
