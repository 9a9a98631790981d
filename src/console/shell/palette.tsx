import '@mantine/spotlight/styles.layer.css';

import { useMantineColorScheme } from '@mantine/core';
import { createSpotlight, Spotlight, type SpotlightActionGroupData } from '@mantine/spotlight';
import { IconBell, IconBuilding, IconMoon, IconSearch, IconServer2, IconSun } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';

import { incidentsQuery, servicesQuery } from '#console/api/queries.ts';
import { isolated } from '#console/parts/isolated.ts';
import { PLACES, SETTINGS } from '#console/shell/navigation.ts';
import { useHere } from '#console/shell/organization.tsx';

/** As many of each kind as can be of help. */
const LISTED_MAX = 200;

const [store, spotlight] = createSpotlight();

interface PaletteProps {
  readonly isOpen: boolean;
  /** Also when an entry was chosen. */
  readonly onClose: () => void;
}

/** Goes anywhere by typing a part of its name. */
export function Palette({ isOpen, onClose }: PaletteProps) {
  useEffect(() => {
    if (isOpen) spotlight.open();
    else spotlight.close();
  }, [isOpen]);
  const groups = [usePlaces(), useIncidents(), useServices(), useOthers()].filter(({ actions }) => actions.length > 0);
  return (
    <Spotlight
      store={store}
      title="Search"
      classNames={{ header: 'hidden-text' }}
      attributes={{ header: { role: 'presentation' } }}
      onSpotlightClose={onClose}
      shortcut={null}
      actions={groups}
      limit={12}
      nothingFound="Nothing has this name"
      scrollable
      maxHeight="60vh"
      searchProps={{
        leftSection: <IconSearch size={18} />,
        placeholder: 'Go to a room, a service, an incident …',
        'aria-label': 'Where to go',
      }}
    />
  );
}

function usePlaces(): SpotlightActionGroupData {
  const navigate = useNavigate();
  const { isAdmin } = useHere();
  const rooms = [...PLACES, ...SETTINGS.filter(({ isForAdmins }) => isAdmin || !isForAdmins)];
  return {
    group: 'Rooms',
    actions: rooms.map(({ to, label, icon: Icon }) => ({
      id: to,
      label,
      leftSection: <Icon size={18} stroke={1.75} />,
      onClick: () => void navigate({ to }),
    })),
  };
}

function useIncidents(): SpotlightActionGroupData {
  const navigate = useNavigate();
  const { data } = useQuery(incidentsQuery(useHere().org.orgId));
  const open = data?.incidents.filter(({ status }) => status !== 'resolved') ?? [];
  return {
    group: 'Open incidents',
    actions: open.slice(0, LISTED_MAX).map(({ incidentId, number, title, status }) => ({
      id: incidentId,
      label: isolated(title),
      description: `#${number}, ${status}`,
      leftSection: <IconBell size={18} stroke={1.75} />,
      onClick: () => void navigate({ to: '/incidents/$incidentId', params: { incidentId } }),
    })),
  };
}

function useServices(): SpotlightActionGroupData {
  const navigate = useNavigate();
  const { data } = useQuery(servicesQuery(useHere().org.orgId));
  return {
    group: 'Services',
    actions: (data?.services ?? []).slice(0, LISTED_MAX).map(({ serviceId, name, environment }) => ({
      id: serviceId,
      label: isolated(name),
      description: environment ?? undefined,
      leftSection: <IconServer2 size={18} stroke={1.75} />,
      onClick: () => void navigate({ to: '/services/$serviceId', params: { serviceId } }),
    })),
  };
}

function useOthers(): SpotlightActionGroupData {
  const { session, org, enter } = useHere();
  const { setColorScheme } = useMantineColorScheme();
  const others = session.organizations.filter(({ orgId }) => orgId !== org.orgId);
  return {
    group: 'Change',
    actions: [
      ...others.map(({ orgId, name }) => ({
        id: orgId,
        label: `Organization ${isolated(name)}`,
        leftSection: <IconBuilding size={18} stroke={1.75} />,
        onClick: () => enter(orgId),
      })),
      {
        id: 'dark',
        label: 'Dark appearance',
        leftSection: <IconMoon size={18} stroke={1.75} />,
        onClick: () => setColorScheme('dark'),
      },
      {
        id: 'light',
        label: 'Light appearance',
        leftSection: <IconSun size={18} stroke={1.75} />,
        onClick: () => setColorScheme('light'),
      },
    ],
  };
}
