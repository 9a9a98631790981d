import { Menu } from '@mantine/core';
import { Fragment } from 'react';

import type { ActionMenuProps } from '#console/components/action_menu.tsx';
import { useOpenedMenu } from '#console/shell/opened_menu.ts';

/** The menu with its button, once somebody has pressed it. */
export function ActionMenuPanel({ entries, button, position = 'bottom-end', withinPortal = false }: ActionMenuProps) {
  const { isOpen, setIsOpen, button: ref } = useOpenedMenu();
  return (
    <Menu opened={isOpen} onChange={setIsOpen} position={position} withinPortal={withinPortal}>
      <Menu.Target>{button({ ref })}</Menu.Target>
      <Menu.Dropdown>
        {entries.map(({ text, icon, mark, isDangerous = false, isDisabled = false, isApart = false, ...does }) => (
          <Fragment key={text}>
            {isApart && <Menu.Divider />}
            <Menu.Item
              leftSection={icon}
              rightSection={mark}
              disabled={isDisabled}
              {...(isDangerous && { color: 'red' })}
              {...does}
            >
              {text}
            </Menu.Item>
          </Fragment>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
