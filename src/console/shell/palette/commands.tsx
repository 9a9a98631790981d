import { useMantineColorScheme } from '@mantine/core';
import type { SpotlightActionData, SpotlightActionGroupData } from '@mantine/spotlight';
import { useNavigate } from '@tanstack/react-router';

import { leave } from '#console/api/session.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import {
  IconBolt,
  IconBuilding,
  IconMoon,
  IconMoonStars,
  IconPlayerPlay,
  IconSettings,
  IconStairs,
  IconSun,
  IconUsers,
} from '#console/icons.ts';
import { useNavigation } from '#console/shell/navigation.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { PAGE_WORDS, rank } from '#console/shell/palette/palette_query.ts';

const ON_CALL_PAGES = [
  { to: '/oncall/teams', label: 'Teams', icon: IconUsers },
  { to: '/oncall/policies', label: 'Escalation policies', icon: IconStairs },
  { to: '/oncall/simulator', label: 'Simulator', icon: IconPlayerPlay },
  { to: '/oncall/load', label: 'Load on people', icon: IconMoonStars },
] as const;

/** Returns the actions that fit the text, the best first, and how well the best one does. */
function ranked<T extends { readonly label: string; readonly words?: string }>(
  text: string,
  items: readonly T[],
  toAction: (item: T) => SpotlightActionData,
): Pick<RankedGroup, 'actions' | 'fit'> {
  const fits = items.flatMap((item) => {
    const fit = rank(text, item.label, item.words);
    return fit === null ? [] : [{ fit, action: toAction(item) }];
  });
  const sorted = fits.toSorted((a, b) => a.fit - b.fit);
  return { actions: sorted.map(({ action }) => action), fit: sorted[0]?.fit ?? 0 };
}

export interface RankedGroup extends SpotlightActionGroupData {
  /** Fit of its best action to the text, smaller is better. */
  readonly fit: number;
}

export function usePages(text: string): RankedGroup {
  const navigate = useNavigate();
  const { isAdmin } = useOrganization();
  const { main, settings } = useNavigation();
  const pages = [
    ...main.map((page) => ({ ...page, about: '' })),
    ...ON_CALL_PAGES.map((page) => ({ ...page, about: 'On-call' })),
    ...settings
      .filter(({ isForAdmins }) => isAdmin || !isForAdmins)
      .map((page) => ({ ...page, icon: IconSettings, about: 'Settings' })),
  ];
  return {
    group: 'Pages',
    ...ranked(
      text,
      pages.map((page) => ({ ...page, words: `${page.about} ${PAGE_WORDS[page.to] ?? ''}` })),
      ({ to, label, about, icon: Icon }) => ({
        id: to,
        label,
        description: about === '' ? undefined : about,
        leftSection: <Icon size={18} stroke={1.75} />,
        onClick: () => void navigate({ to }),
      }),
    ),
  };
}

/** Action of somebody who puts themselves on call. */
export const PUT_ONESELF = 'Put yourself on call';

/** Returns what people often begin, for those who may. The words are those by which it is looked for besides its label. */
export function useCommands(text: string): RankedGroup {
  const navigate = useNavigate();
  const { session, org, may, isAdmin } = useOrganization();
  const onCall = may('oncall:edit')
    ? [
        {
          label: 'Declare an incident',
          words: 'create open new page call alert somebody someone',
          go: () => navigate({ to: '/incidents', hash: 'declare' }),
        },
        {
          label: 'Hand over an incident',
          words: 'reassign escalate pass on',
          go: () => navigate({ to: '/incidents' }),
        },
        {
          label: 'Put somebody on call',
          words: 'override cover replace page call',
          go: () => navigate({ to: '/oncall', hash: 'put' }),
        },
        {
          label: PUT_ONESELF,
          words: 'me myself override take over tonight swap shift cover',
          go: () => navigate({ to: '/oncall', search: { put: session.user.userId } }),
        },
        {
          label: 'New maintenance',
          words: 'start silence mute pause quiet plan',
          go: () => navigate({ to: '/rules', hash: 'maintenance' }),
        },
        { label: 'Create a rule', words: 'new alert', go: () => navigate({ to: '/rules/new' }) },
        { label: 'Create a schedule', words: 'new rotation', go: () => navigate({ to: '/oncall/schedules/new' }) },
        { label: 'Create a policy', words: 'new escalation', go: () => navigate({ to: '/oncall/policies/new' }) },
        { label: 'Create a team', words: 'new', go: () => navigate({ to: '/oncall/teams', hash: 'create' }) },
      ]
    : [];
  const commands = [
    ...onCall,
    ...(may('services:edit')
      ? [
          {
            label: 'Create a service',
            words: 'new add',
            go: () => navigate({ to: '/services', search: { create: true as const } }),
          },
          { label: 'Delete a service', words: 'remove', go: () => navigate({ to: '/services' }) },
        ]
      : []),
    ...(may('dashboards:edit')
      ? [{ label: 'Create a dashboard', words: 'new', go: () => navigate({ to: '/dashboards', hash: 'create' }) }]
      : []),
    ...(isAdmin
      ? [
          {
            label: 'Invite somebody',
            words: 'member people add create user',
            go: () => navigate({ to: '/settings/members', hash: 'invite' }),
          },
        ]
      : []),
    {
      label: 'Create an API key',
      words: 'new token',
      go: () => navigate({ to: '/settings/api-keys', hash: 'create' }),
    },
    {
      label: 'Add your phone number',
      words: 'contact sms call mobile telephone',
      go: () => navigate({ to: '/me', hash: 'phone' }),
    },
    {
      label: 'Set up your second factor',
      words: '2fa mfa totp passkey authenticator security',
      go: () => navigate({ to: '/me', hash: 'second-factor' }),
    },
    { label: 'See who is on call', words: 'now schedule rota', go: () => navigate({ to: '/oncall' }) },
    ...(org.role === 'owner'
      ? [
          {
            label: 'Export the organization',
            words: 'download everything archive backup zip data',
            go: () => navigate({ to: '/settings/general', hash: 'export' }),
          },
        ]
      : []),
    { label: 'Send yourself a test', words: 'page phone sms call push mail', go: () => navigate({ to: '/me' }) },
    { label: 'Log out', words: 'logout sign signout off', go: () => leave() },
  ];
  return {
    group: 'Actions',
    ...ranked(text, commands, ({ label, go }) => ({
      id: label,
      label,
      leftSection: <IconBolt size={18} stroke={1.75} />,
      onClick: () => void go(),
    })),
  };
}

/** Returns what can be switched to: other organizations, and the colour scheme. */
export function useSwitches(text: string): RankedGroup {
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
  const words = 'switch organization colour scheme appearance';
  return {
    group: 'Switch to',
    ...ranked(
      text,
      switches.map((action) => ({ action, label: action.label, words })),
      ({ action }) => action,
    ),
  };
}
