import { UnstyledButton } from '@mantine/core';
import { IconSelector } from '@tabler/icons-react';
import type { ComponentProps } from 'react';

import { withoutBidiControls } from '#console/components/text/bidi.ts';
import { Logo } from '#console/components/logo.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import classes from '#console/shell/organization_menu.module.css';

/** Button with the organization that is shown, which opens the list of the others. */
export function OrganizationButton(props: ComponentProps<'button'>) {
  const { org } = useOrganization();
  return (
    <UnstyledButton {...props} className={classes.org} aria-label={`Organization: ${org.name}. Switch`}>
      <OrganizationName />
      <IconSelector size={16} aria-hidden />
    </UnstyledButton>
  );
}

export function OrganizationName() {
  const { org } = useOrganization();
  return (
    <>
      <Logo alt="" className={classes.mark} />
      <bdi className={classes.name}>{withoutBidiControls(org.name)}</bdi>
    </>
  );
}
