import { useMantineColorScheme } from '@mantine/core';
import type { SpotlightActionGroupData } from '@mantine/spotlight';
import { IconBuilding, IconMoon, IconPlus, IconSun } from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';

import { isolateBidi } from '#console/components/text/bidi.ts';
import { useNavigation } from '#console/shell/navigation.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { matches } from '#console/shell/palette/palette_query.ts';

/** Pages that match the text. */
export function usePages(text: string): SpotlightActionGroupData {
  const navigate = useNavigate();
  const { isAdmin } = useOrganization();
  const { main, settings } = useNavigation();
  const pages = [
    ...main.map((page) => ({ ...page, about: '' })),
    ...settings.filter(({ isForAdmins }) => isAdmin || !isForAdmins).map((page) => ({ ...page, about: 'Settings' })),
  ];
  return {
    group: 'Pages',
    actions: pages
      .filter(({ label, about }) => matches(text, label, about))
      .map(({ to, label, icon: Icon }) => ({
        id: to,
        label,
        leftSection: <Icon size={18} stroke={1.75} />,
        onClick: () => void navigate({ to }),
      })),
  };
}

/** Things to create, for those who may. */
export function useCommands(text: string): SpotlightActionGroupData {
  const navigate = useNavigate();
  const { may } = useOrganization();
  const commands = [
    ...(may('oncall:edit')
      ? [
          { label: 'Create a rule', go: () => navigate({ to: '/rules/new' }) },
          { label: 'Create a schedule', go: () => navigate({ to: '/oncall/schedules/new' }) },
          { label: 'Create an escalation policy', go: () => navigate({ to: '/oncall/policies/new' }) },
        ]
      : []),
    ...(may('services:edit')
      ? [{ label: 'Create a service', go: () => navigate({ to: '/services', search: { create: true } }) }]
      : []),
  ];
  return {
    group: 'Actions',
    actions: commands
      .filter(({ label }) => text !== '' && matches(text, label))
      .map(({ label, go }) => ({
        id: label,
        label,
        leftSection: <IconPlus size={18} stroke={1.75} />,
        onClick: () => void go(),
      })),
  };
}

export function useSwitches(text: string): SpotlightActionGroupData {
  const { session, org, switchTo } = useOrganization();
  const { setColorScheme } = useMantineColorScheme();
  const others = session.organizations.filter(({ orgId }) => orgId !== org.orgId);
  const switches = [
    ...others.map(({ orgId, name }) => ({
      id: orgId,
      label: `Organization ${isolateBidi(name)}`,
      leftSection: <IconBuilding size={18} stroke={1.75} />,
      onClick: () => switchTo(orgId),
    })),
    {
      id: 'dark',
      label: 'Dark theme',
      leftSection: <IconMoon size={18} stroke={1.75} />,
      onClick: () => setColorScheme('dark'),
    },
    {
      id: 'light',
      label: 'Light theme',
      leftSection: <IconSun size={18} stroke={1.75} />,
      onClick: () => setColorScheme('light'),
    },
  ];
  return { group: 'Switch to', actions: switches.filter(({ label }) => matches(text, label)) };
}
