import { lazy, type ReactElement, type ReactNode, type Ref, Suspense, useState } from 'react';

const loadPanel = () => import('#console/components/action_menu_panel.tsx');
const ActionMenuPanel = lazy(() => loadPanel().then((m) => ({ default: m.ActionMenuPanel })));

/** What a menu offers: something to do, or a link. */
export interface MenuEntry {
  readonly text: string;
  readonly icon?: ReactNode;
  /** At its end, such as a tick at what is chosen. */
  readonly mark?: ReactNode;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  /** Below a line that separates it from those before. */
  readonly isApart?: boolean;
  readonly onClick?: () => void;
  readonly renderRoot?: (props: object) => ReactElement;
}

export interface MenuButtonProps {
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

/** A menu behind a button. It is loaded when the button is near. */
export function ActionMenu(props: ActionMenuProps) {
  const [isWanted, setIsWanted] = useState(false);
  const button = props.button({
    'aria-haspopup': 'menu',
    'aria-expanded': false,
    onPointerEnter: () => void loadPanel(),
    onFocus: () => void loadPanel(),
    onClick: () => setIsWanted(true),
  });
  if (!isWanted) return button;
  return (
    <Suspense fallback={button}>
      <ActionMenuPanel {...props} />
    </Suspense>
  );
}
