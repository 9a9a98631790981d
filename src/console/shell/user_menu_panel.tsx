import { type MantineColorScheme, Menu, useMantineColorScheme } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useRouter } from '@tanstack/react-router';

import { addressOf } from '#console/api/http.ts';
import { sessionQuery, signOut } from '#console/api/session.ts';
import { showError } from '#console/components/notice.tsx';
import { IconApi, IconBook, IconKeyboard, IconLogout, IconUserCircle } from '#console/icons.ts';
import { useOpenedMenu } from '#console/shell/organization_button.tsx';
import { UserButton } from '#console/shell/user_button.tsx';

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
