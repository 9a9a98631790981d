import { UnstyledButton } from '@mantine/core';
import type { ComponentProps } from 'react';

import classes from '#console/components/text_button.module.css';

/** A button within a line of text. */
export function TextButton(props: ComponentProps<typeof UnstyledButton<'button'>>) {
  return <UnstyledButton {...props} className={classes.button} />;
}
