import { Menu } from '@mantine/core';

import { NoteButton } from '#console/pages/incidents/note_button.tsx';
import { useOpenedMenu } from '#console/shell/opened_menu.ts';

export interface NoteMenuProps {
  readonly onEdit: () => void;
  readonly onDelete: () => void;
}

/** The menu with its button, once somebody has pressed it. */
export function NoteMenuPanel({ onEdit, onDelete }: NoteMenuProps) {
  const { isOpen, setIsOpen, button } = useOpenedMenu();
  return (
    <Menu opened={isOpen} onChange={setIsOpen} position="bottom-end">
      <Menu.Target>
        <NoteButton ref={button} />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={onEdit}>Edit</Menu.Item>
        <Menu.Item style={{ color: 'var(--t-red)' }} onClick={onDelete}>
          Delete
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
