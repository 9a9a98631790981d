import { Menu } from '@mantine/core';
import { Fragment, type ReactElement, type ReactNode, type Ref } from 'react';

import { useOpenedMenu } from '#console/shell/organization_button.tsx';

/** Entry of a menu: a command or a link. */
interface MenuEntry {
  readonly text: string;
  readonly icon?: ReactNode;
  /** Mark at the end, such as a tick at the chosen entry. */
  readonly mark?: ReactNode;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  /** Whether a line separates the entry from those before it. */
  readonly isApart?: boolean;
  readonly onClick?: () => void;
  readonly renderRoot?: (props: object) => ReactElement;
}

interface MenuButtonProps {
  readonly ref?: Ref<HTMLButtonElement>;
  readonly 'aria-haspopup'?: 'menu';
  readonly 'aria-expanded'?: boolean;
  readonly onPointerEnter?: () => void;
  readonly onFocus?: () => void;
  readonly onClick?: () => void;
}

export interface ActionMenuProps {
  readonly entries: readonly MenuEntry[];
  readonly button: (props: MenuButtonProps) => ReactElement;
  readonly position?: 'bottom-end' | 'top-end';
  readonly withinPortal?: boolean;
}

/** Menu with its button, loaded once the button is pressed. */
export function ActionMenuPanel({ entries, button, position = 'bottom-end', withinPortal = false }: ActionMenuProps) {
  const { isOpen, setIsOpen, button: ref } = useOpenedMenu();
  return (
    <Menu opened={isOpen} onChange={setIsOpen} position={position} withinPortal={withinPortal}>
      <Menu.Target>{button({ ref })}</Menu.Target>
      <Menu.Dropdown maw="calc(100vw - 1rem)">
        {entries.map(({ text, icon, mark, isDangerous = false, isDisabled = false, isApart = false, ...does }) => (
          <Fragment key={text}>
            {isApart && <Menu.Divider />}
            <Menu.Item
              leftSection={icon}
              rightSection={mark}
              disabled={isDisabled}
              {...(isDangerous && { style: { color: 'var(--t-red)' } })}
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
