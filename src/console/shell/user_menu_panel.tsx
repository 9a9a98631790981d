import { type MantineColorScheme, Menu, UnstyledButton, useMantineColorScheme, VisuallyHidden } from '@mantine/core';
import { IconApi, IconBook, IconKeyboard, IconLogout, IconUserCircle } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import type { ComponentProps } from 'react';

import { addressOf } from '#console/api/http.ts';
import { sessionQuery, signOut } from '#console/api/session.ts';
import { showError } from '#console/components/notice.tsx';
import { useOpenedMenu } from '#console/shell/opened_menu.ts';
import { initialsOf } from '#console/components/text/initials.ts';
import { withoutBidiControls } from '#console/components/text/bidi.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import classes from '#console/shell/user_menu.module.css';

interface UserButtonProps extends ComponentProps<'button'> {
  readonly isCompact: boolean;
}

/** Button with the name of the person signed in. */
export function UserButton({ isCompact, ...others }: UserButtonProps) {
  const { user } = useOrganization().session;
  return (
    <UnstyledButton {...others} className={isCompact ? classes.compact : classes.person}>
      <span className={classes.face} aria-hidden>
        {initialsOf(user.name)}
      </span>
      {isCompact ? (
        <VisuallyHidden>
          <bdi>{withoutBidiControls(user.name)}</bdi>
        </VisuallyHidden>
      ) : (
        <span className={classes.names}>
          <bdi className={classes.name}>{withoutBidiControls(user.name)}</bdi>
          <bdi className={classes.email}>{withoutBidiControls(user.email)}</bdi>
        </span>
      )}
      <VisuallyHidden>: account and appearance</VisuallyHidden>
    </UnstyledButton>
  );
}

interface UserMenuPanelProps {
  readonly onKeyboardHelp: () => void;
  readonly isCompact: boolean;
}

/** Menu with its button, loaded once the button is pressed. */
export function UserMenuPanel({ onKeyboardHelp, isCompact }: UserMenuPanelProps) {
  const signingOut = useSignOut();
  const { isOpen, setIsOpen, button } = useOpenedMenu();
  return (
    <Menu
      opened={isOpen}
      onChange={setIsOpen}
      position={isCompact ? 'bottom-end' : 'top-start'}
      width={248}
      closeOnItemClick
    >
      <Menu.Target>
        <UserButton isCompact={isCompact} ref={button} />
      </Menu.Target>
      <Menu.Dropdown>
        <SchemeChoice />
        <Menu.Divider />
        <Menu.Item component={Link} to="/me" leftSection={<IconUserCircle size={18} />}>
          Your channels and devices
        </Menu.Item>
        <Menu.Item onClick={onKeyboardHelp} leftSection={<IconKeyboard size={18} />}>
          Keyboard shortcuts
        </Menu.Item>
        <Menu.Item component="a" href={addressOf('docs/guides')} leftSection={<IconBook size={18} />}>
          Guides
        </Menu.Item>
        <Menu.Item component="a" href={addressOf('docs')} leftSection={<IconApi size={18} />}>
          API reference
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={() => signingOut.mutate()} leftSection={<IconLogout size={18} />}>
          Log out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function SchemeChoice() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <Menu.RadioGroup value={colorScheme} onChange={(value) => setColorScheme(value as MantineColorScheme)}>
      <Menu.Label>Appearance</Menu.Label>
      <Menu.RadioItem value="auto">Same as this device</Menu.RadioItem>
      <Menu.RadioItem value="light">Light</Menu.RadioItem>
      <Menu.RadioItem value="dark">Dark</Menu.RadioItem>
    </Menu.RadioGroup>
  );
}

function useSignOut() {
  const queryClient = useQueryClient();
  const router = useRouter();
  return useMutation({
    mutationFn: signOut,
    onError: (error) => showError('You are still logged in', error),
    async onSuccess({ redirectTo }) {
      queryClient.clear();
      queryClient.setQueryData(sessionQuery.queryKey, null);
      if (redirectTo === null) await router.navigate({ to: '/login' });
      else location.assign(redirectTo);
    },
  });
}
