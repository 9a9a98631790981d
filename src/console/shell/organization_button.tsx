import { UnstyledButton } from '@mantine/core';
import { type ComponentProps, useEffect, useRef, useState } from 'react';

import { withoutBidiControls } from '#console/components/text/bidi.ts';
import { Logo } from '#console/components/logo.tsx';
import { useCloseOnBack } from '#console/components/use_close_on_back.ts';
import { IconSelector } from '#console/icons.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import classes from '#console/shell/organization_menu.module.css';

/** Button with the organization that is shown, which opens the list of the others. */
export function OrganizationButton(props: ComponentProps<'button'>) {
  const { org } = useOrganization();
  return (
    <UnstyledButton
      {...props}
      className={`${classes.org} row small shrinks`}
      aria-label={`Organization: ${org.name}. Switch`}
    >
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
      <bdi className="ellipsis">{withoutBidiControls(org.name)}</bdi>
    </>
  );
}

/**
 * Opens a menu that was loaded because its button was pressed: it opens as soon as it is loaded, and returns the focus
 * to its button, which replaced the one that was pressed.
 */
export function useOpenedMenu() {
  const [isOpen, setIsOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    button.current?.focus({ preventScroll: true });
    setIsOpen(true);
  }, []);
  useCloseOnBack(isOpen, () => setIsOpen(false));
  return { isOpen, setIsOpen, button };
}
