import { ActionIcon, type ActionIconProps, type ElementProps, UnstyledButton } from '@mantine/core';
import { type ComponentProps, type PointerEvent, type ReactNode, type RefObject, useRef, useState } from 'react';

import { lazyPart } from '#console/components/lazy_part.tsx';
import classes from '#console/components/text_button.module.css';

interface IconButtonProps extends ActionIconProps, Omit<ElementProps<'button', keyof ActionIconProps>, 'ref'> {
  /** Function of the button, for screen readers and as a hint at the mouse. */
  readonly label: string;
}

export function IconButton({ label, ...others }: IconButtonProps) {
  const { target, hint } = useHint(label);
  return (
    <>
      <ActionIcon {...others} {...target} aria-label={label} />
      {hint}
    </>
  );
}

/** A button within a line of text. */
export function TextButton(props: ComponentProps<typeof UnstyledButton<'button'>>) {
  return <UnstyledButton {...props} className={classes.button} />;
}

const Hint = lazyPart(() => import('#console/components/hint.tsx').then((m) => m.Hint));

interface Hinted {
  readonly target: {
    readonly ref: RefObject<HTMLButtonElement | null>;
    readonly onPointerEnter: (event: PointerEvent) => void;
    readonly onPointerLeave: () => void;
  };
  /** Element to render beside the button. */
  readonly hint: ReactNode;
}

/** Returns a tooltip for a button, shown when a mouse rests on it. Screen readers read the button's label instead. */
export function useHint(text: string): Hinted {
  const ref = useRef<HTMLButtonElement>(null);
  const [isNear, setIsNear] = useState(false);
  return {
    target: {
      ref,
      onPointerEnter: ({ pointerType }) => setIsNear(pointerType === 'mouse'),
      onPointerLeave: () => setIsNear(false),
    },
    hint: isNear && <Hint target={ref} text={text} />,
  };
}
