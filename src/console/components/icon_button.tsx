import { ActionIcon, type ActionIconProps, type ElementProps } from '@mantine/core';

import { useHint } from '#console/components/use_hint.tsx';

interface IconButtonProps extends ActionIconProps, Omit<ElementProps<'button', keyof ActionIconProps>, 'ref'> {
  /** Function of the button, for screen readers and as a hint at the mouse. */
  readonly label: string;
}

/** Button that shows only an icon. */
export function IconButton({ label, ...others }: IconButtonProps) {
  const { target, hint } = useHint(label);
  return (
    <>
      <ActionIcon {...others} {...target} aria-label={label} />
      {hint}
    </>
  );
}
