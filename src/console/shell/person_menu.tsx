import { type MantineColorScheme, Menu, UnstyledButton, useMantineColorScheme, VisuallyHidden } from '@mantine/core';
import { IconBook, IconKeyboard, IconLogout, IconUserCircle } from '@tabler/icons-react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';
import { useState } from 'react';

import { addressOf } from '#console/api/http.ts';
import { sessionQuery, signOut } from '#console/api/session.ts';
import { useBackCloses } from '#console/parts/back_closes.ts';
import { initialsOf } from '#console/parts/initials.ts';
import { withoutDirections } from '#console/parts/isolated.ts';
import { tellFailed } from '#console/parts/tell.tsx';
import { useHere } from '#console/shell/organization.tsx';
import classes from '#console/shell/person_menu.module.css';

interface PersonMenuProps {
  readonly onKeys: () => void;
  readonly isCompact?: boolean;
}

/** Who is signed in, how the console looks, and the way out. */
export function PersonMenu({ onKeys, isCompact = false }: PersonMenuProps) {
  const { user } = useHere().session;
  const leave = useSignOut();
  const [isOpen, setIsOpen] = useState(false);
  useBackCloses(isOpen, () => setIsOpen(false));
  return (
    <Menu
      opened={isOpen}
      onChange={setIsOpen}
      position={isCompact ? 'bottom-end' : 'top-start'}
      width={248}
      closeOnItemClick
    >
      <Menu.Target>
        <UnstyledButton className={isCompact ? classes.compact : classes.person}>
          <span className={classes.face} aria-hidden>
            {initialsOf(user.name)}
          </span>
          {isCompact ? (
            <VisuallyHidden>
              <bdi>{withoutDirections(user.name)}</bdi>
            </VisuallyHidden>
          ) : (
            <span className={classes.names}>
              <bdi className={classes.name}>{withoutDirections(user.name)}</bdi>
              <bdi className={classes.email}>{withoutDirections(user.email)}</bdi>
            </span>
          )}
          <VisuallyHidden>: account and appearance</VisuallyHidden>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <SchemeChoice />
        <Menu.Divider />
        <Menu.Item component={Link} to="/me" leftSection={<IconUserCircle size={18} />}>
          Your channels and devices
        </Menu.Item>
        <Menu.Item onClick={onKeys} leftSection={<IconKeyboard size={18} />}>
          Keyboard shortcuts
        </Menu.Item>
        <Menu.Item component="a" href={addressOf('docs')} leftSection={<IconBook size={18} />}>
          API reference
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item onClick={() => leave.mutate()} leftSection={<IconLogout size={18} />}>
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
      <Menu.RadioItem value="auto">As on this device</Menu.RadioItem>
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
    onError: (error) => tellFailed('You are still signed in', error),
    async onSuccess() {
      queryClient.clear();
      queryClient.setQueryData(sessionQuery.queryKey, null);
      await router.navigate({ to: '/login' });
    },
  });
}
