import { ActionIcon, type ActionIconProps, type ElementProps } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';

import classes from '#console/pages/incidents/notes/notes.module.css';

type NoteButtonProps = ActionIconProps & ElementProps<'button', keyof ActionIconProps>;

export function NoteButton(props: NoteButtonProps) {
  return (
    <ActionIcon variant="subtle" color="gray" aria-label="Change this note" className={classes.menu} {...props}>
      <IconDots size={18} />
    </ActionIcon>
  );
}
