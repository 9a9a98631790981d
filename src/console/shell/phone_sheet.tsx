import { Modal } from '@mantine/core';

import { NAVIGATION } from '#console/shell/navigation.ts';
import { Place } from '#console/shell/place.tsx';
import classes from '#console/shell/shell.module.css';

const BEHIND_MORE = NAVIGATION.filter(({ isInBar }) => !isInBar);

/** The rooms that the bar of a phone has no place for. */
export function PhoneSheet({ onClose }: { readonly onClose: () => void }) {
  return (
    <Modal
      opened
      onClose={onClose}
      title="More"
      centered={false}
      classNames={{ inner: classes.sheetInner, content: classes.sheet }}
      transitionProps={{ transition: 'slide-up', duration: 150 }}
    >
      <div className={classes.sheetPlaces}>
        {BEHIND_MORE.map((place) => (
          <Place key={place.to} place={place} onClick={onClose} />
        ))}
      </div>
    </Modal>
  );
}
