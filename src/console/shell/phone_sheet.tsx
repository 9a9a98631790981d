import { Modal } from '@mantine/core';

import { NavigationLink, useNavigation } from '#console/shell/navigation.tsx';
import classes from '#console/shell/shell.module.css';

/** Sheet of the main pages that are not in the bar of a phone. */
export function PhoneSheet({ onClose }: { readonly onClose: () => void }) {
  const behindMore = useNavigation().main.filter(({ isInBar }) => !isInBar);
  return (
    <Modal
      opened
      onClose={onClose}
      title="More"
      centered={false}
      classNames={{ inner: classes.sheetInner, content: classes.sheet }}
      attributes={{ content: { 'data-bottom-sheet': '' } }}
      transitionProps={{ transition: 'slide-up', duration: 150 }}
    >
      <div className={classes.sheetLinks}>
        {behindMore.map((entry) => (
          <NavigationLink key={entry.to} entry={entry} onClick={onClose} />
        ))}
      </div>
    </Modal>
  );
}
