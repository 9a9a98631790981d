import { UnstyledButton, VisuallyHidden } from '@mantine/core';
import type { ComponentProps } from 'react';

import { withoutBidiControls } from '#console/components/text/bidi.ts';
import { initialsOf, personStyle } from '#console/components/text/person_dot.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import classes from '#console/shell/user_menu.module.css';

interface UserButtonProps extends ComponentProps<'button'> {
  readonly isCompact: boolean;
}

export function UserButton({ isCompact, ...others }: UserButtonProps) {
  const { session, org } = useOrganization();
  const { user } = session;
  return (
    <UnstyledButton {...others} className={isCompact ? classes.compact : classes.person}>
      <span className={classes.face} style={personStyle(org.color)} aria-hidden>
        {initialsOf(user.name) || user.name.slice(0, 1).toUpperCase()}
      </span>
      {isCompact ? (
        <VisuallyHidden>
          <bdi>{withoutBidiControls(user.name)}</bdi>
        </VisuallyHidden>
      ) : (
        <span className={classes.names}>
          <bdi className={`${classes.name} small strong`}>{withoutBidiControls(user.name)}</bdi>
          <bdi className={classes.email}>{withoutBidiControls(user.email)}</bdi>
        </span>
      )}
      <VisuallyHidden>: account and appearance</VisuallyHidden>
    </UnstyledButton>
  );
}
