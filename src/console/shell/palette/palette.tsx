import { useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import {
  createSpotlight,
  Spotlight,
  type SpotlightActionData,
  type SpotlightActionGroupData,
} from '@mantine/spotlight';
import {
  type Icon,
  IconActivityHeartbeat,
  IconBell,
  IconBug,
  IconBuilding,
  IconCalendarUser,
  IconDots,
  IconLayoutDashboard,
  IconMoon,
  IconPlus,
  IconSearch,
  IconServer2,
  IconStairs,
  IconSun,
  IconUser,
  IconUserCheck,
  IconUsers,
} from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import '@mantine/spotlight/styles.layer.css';

import type { ResultOf } from '#console/api/actions.ts';
import { actionQuery } from '#console/api/queries.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { useNavigation } from '#console/shell/navigation.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import { matches, type PaletteQuery, readPaletteQuery } from '#console/shell/palette/palette_query.ts';
import { FOUND_TOTAL_MAX } from '#modules/search/decide/search_kinds.ts';

/** Pause in typing, in milliseconds, after which the server is asked. */
const DEBOUNCE_MS = 150;

const LABEL = 'Search people, services, incidents and everything else';

const [store, spotlight] = createSpotlight();

interface PaletteProps {
  readonly isOpen: boolean;
  /** Called on closing, and when a result was chosen. */
  readonly onClose: () => void;
}

/** Command palette: opens anything by part of its name, and begins what people often do. */
export function Palette({ isOpen, onClose }: PaletteProps) {
  useEffect(() => {
    if (isOpen) spotlight.open();
    else spotlight.close();
  }, [isOpen]);
  const [typed, setTyped] = useState('');
  const { text, isPutOnCall } = readPaletteQuery(typed);
  const [asked] = useDebouncedValue(text, DEBOUNCE_MS);
  const results = useFound({ text: asked, isPutOnCall }, isOpen);
  const commands = [usePages(text), useCommands(text), useSwitches(text)];
  const groups: SpotlightActionGroupData[] = isPutOnCall ? results : [...results, ...commands];
  return (
    <Spotlight
      store={store}
      title="Search"
      classNames={{ header: 'hidden-text' }}
      attributes={{ header: { role: 'presentation' } }}
      onSpotlightClose={onClose}
      shortcut={null}
      actions={groups.filter(({ actions }) => actions.length > 0)}
      // The server and the groups have matched the text already.
      filter={(_, actions) => actions}
      query={typed}
      onQueryChange={setTyped}
      nothingFound="No results"
      scrollable
      maxHeight="60vh"
      searchProps={{ leftSection: <IconSearch size={18} />, placeholder: LABEL, 'aria-label': LABEL }}
    />
  );
}

/** Pages that match the text. */
function usePages(text: string): SpotlightActionGroupData {
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
function useCommands(text: string): SpotlightActionGroupData {
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

function useSwitches(text: string): SpotlightActionGroupData {
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

type Found = ResultOf<'search_everything'>['found'][number];
type Kind = Found['kind'];

const KINDS: Readonly<Record<Kind, { readonly group: string; readonly icon: Icon }>> = {
  incident: { group: 'Incidents', icon: IconBell },
  service: { group: 'Services', icon: IconServer2 },
  person: { group: 'People', icon: IconUser },
  team: { group: 'Teams', icon: IconUsers },
  schedule: { group: 'Schedules', icon: IconCalendarUser },
  policy: { group: 'Policies', icon: IconStairs },
  rule: { group: 'Rules', icon: IconActivityHeartbeat },
  group: { group: 'Exceptions', icon: IconBug },
  dashboard: { group: 'Dashboards', icon: IconLayoutDashboard },
};

/** Returns what the server finds, by kind, with people to put on call. */
function useFound({ text, isPutOnCall }: PaletteQuery, isOpen: boolean): SpotlightActionGroupData[] {
  const { org, may } = useOrganization();
  const navigate = useNavigate();
  const openers = useOpeners(text);
  const { data } = useQuery({
    ...actionQuery(org.orgId, 'settings', 'search_everything', { text }),
    enabled: isOpen && text !== '',
    placeholderData: keepPreviousData,
    // Names change seldom, and nothing tells an open palette.
    staleTime: 5_000,
  });
  const kinds = text === '' ? [] : (data?.found ?? []);
  const people = kinds.find(({ kind }) => kind === 'person')?.items ?? [];
  const put: SpotlightActionGroupData = {
    group: 'Put on call',
    actions: may('oncall:edit')
      ? people.map(({ id, name, detail }) => ({
          id: `put ${id}`,
          label: `Put ${isolateBidi(name)} on call`,
          description: detail ?? undefined,
          leftSection: <IconUserCheck size={18} stroke={1.75} />,
          onClick: () => void navigate({ to: '/oncall', search: { put: id } }),
        }))
      : [],
  };
  return isPutOnCall ? [put] : [...kinds.map(toGroup), put];

  function toGroup({ kind, items, total }: Found): SpotlightActionGroupData {
    const { group, icon: KindIcon } = KINDS[kind];
    const shown = items.map(({ id, name, detail }): SpotlightActionData => ({
      id,
      label: isolateBidi(name),
      description: detail === null ? undefined : isolateBidi(detail),
      leftSection: <KindIcon size={18} stroke={1.75} />,
      onClick: () => openers[kind].open(id, detail),
    }));
    const more: SpotlightActionData = {
      id: `more ${kind}`,
      label: `${total < FOUND_TOTAL_MAX ? '' : 'At least '}${(total - items.length).toLocaleString('en')} more`,
      leftSection: <IconDots size={18} stroke={1.75} />,
      onClick: () => openers[kind].list(),
    };
    return { group, actions: total > items.length ? [...shown, more] : shown };
  }
}

/** Functions that open a thing of each kind, and the list of those that match. */
function useOpeners(
  q: string,
): Readonly<Record<Kind, { open(id: string, detail: string | null): void; list(): void }>> {
  const navigate = useNavigate();
  return {
    incident: {
      open: (incidentId) => void navigate({ to: '/incidents/$incidentId', params: { incidentId } }),
      list: () => void navigate({ to: '/incidents', search: { q, status: 'all' } }),
    },
    service: {
      open: (serviceId) => void navigate({ to: '/services/$serviceId', params: { serviceId } }),
      list: () => void navigate({ to: '/services', search: { text: q } }),
    },
    person: {
      // The detail of a person is the mail address, which no other member has.
      open: (_, mail) => void navigate({ to: '/settings/members', search: { q: mail ?? q } }),
      list: () => void navigate({ to: '/settings/members', search: { q } }),
    },
    team: {
      open: (teamId) => void navigate({ to: '/oncall/teams/$teamId', params: { teamId } }),
      list: () => void navigate({ to: '/oncall/teams', search: { q } }),
    },
    schedule: {
      open: (scheduleId) => void navigate({ to: '/oncall/schedules/$scheduleId', params: { scheduleId } }),
      list: () => void navigate({ to: '/oncall' }),
    },
    policy: {
      open: (policyId) => void navigate({ to: '/oncall/policies/$policyId', params: { policyId } }),
      list: () => void navigate({ to: '/oncall/policies', search: { q } }),
    },
    rule: {
      open: (ruleId) => void navigate({ to: '/rules/$ruleId', params: { ruleId } }),
      list: () => void navigate({ to: '/rules', search: { q } }),
    },
    group: {
      open: (groupId) => void navigate({ to: '/exceptions/$groupId', params: { groupId } }),
      list: () => void navigate({ to: '/exceptions', search: { q, status: 'all' } }),
    },
    dashboard: {
      open: (dashboardId) => void navigate({ to: '/dashboards/$dashboardId', params: { dashboardId } }),
      list: () => void navigate({ to: '/dashboards', search: { q } }),
    },
  };
}
