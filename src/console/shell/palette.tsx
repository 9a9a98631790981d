import '@mantine/spotlight/styles.layer.css';

import { useMantineColorScheme } from '@mantine/core';
import { createSpotlight, Spotlight, type SpotlightActionGroupData } from '@mantine/spotlight';
import { IconBell, IconBuilding, IconMoon, IconSearch, IconServer2, IconSun } from '@tabler/icons-react';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';

import { incidentSearchQuery } from '#console/api/incidents.ts';
import { serviceSearchQuery } from '#console/api/services.ts';
import { isolateBidi } from '#console/components/bidi.ts';
import { NAVIGATION, SETTINGS_NAVIGATION } from '#console/shell/navigation.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const SHOWN_MAX = 12;
/** Somebody who types is not asked for after each letter. */
const TYPED_MS = 150;

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
  const [query, setQuery] = useState('');
  const [text] = useDebouncedValue(query.trim(), TYPED_MS);
  const groups = [usePlaces(), useIncidents(text, isOpen), useServices(text, isOpen), useOthers()].filter(
    ({ actions }) => actions.length > 0,
  );
  return (
    <Spotlight
      store={store}
      title="Search"
      classNames={{ header: 'hidden-text' }}
      attributes={{ header: { role: 'presentation' } }}
      onSpotlightClose={onClose}
      shortcut={null}
      actions={groups}
      query={query}
      onQueryChange={setQuery}
      limit={SHOWN_MAX}
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
  const { isAdmin } = useOrganization();
  const rooms = [...NAVIGATION, ...SETTINGS_NAVIGATION.filter(({ isForAdmins }) => isAdmin || !isForAdmins)];
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

/** The server looks for them: there may be more than anybody wants to load. */
function useIncidents(text: string, isOpen: boolean): SpotlightActionGroupData {
  const navigate = useNavigate();
  const search = { status: 'open' as const, limit: SHOWN_MAX, ...(text !== '' && { text }) };
  const { data } = useInfiniteQuery({
    ...incidentSearchQuery(useOrganization().org.orgId, search),
    enabled: isOpen,
    placeholderData: keepPreviousData,
  });
  const found = data?.pages.flatMap(({ incidents }) => incidents) ?? [];
  const open = found.filter(({ status }) => status !== 'resolved');
  return {
    group: 'Open incidents',
    actions: open.map(({ incidentId, number, title, status, serviceName }) => ({
      id: incidentId,
      label: isolateBidi(title),
      description: `#${number}, ${status}`,
      keywords: `${title} #${number} ${serviceName}`,
      leftSection: <IconBell size={18} stroke={1.75} />,
      onClick: () => void navigate({ to: '/incidents/$incidentId', params: { incidentId } }),
    })),
  };
}

function useServices(text: string, isOpen: boolean): SpotlightActionGroupData {
  const navigate = useNavigate();
  const { data } = useInfiniteQuery({
    ...serviceSearchQuery(useOrganization().org.orgId, { limit: SHOWN_MAX, ...(text !== '' && { text }) }),
    enabled: isOpen,
    placeholderData: keepPreviousData,
  });
  return {
    group: 'Services',
    actions: (data?.pages.flatMap(({ services }) => services) ?? []).map(({ serviceId, name, environment }) => ({
      id: serviceId,
      label: isolateBidi(name),
      description: environment ?? undefined,
      leftSection: <IconServer2 size={18} stroke={1.75} />,
      onClick: () => void navigate({ to: '/services/$serviceId', params: { serviceId } }),
    })),
  };
}

function useOthers(): SpotlightActionGroupData {
  const { session, org, enter } = useOrganization();
  const { setColorScheme } = useMantineColorScheme();
  const others = session.organizations.filter(({ orgId }) => orgId !== org.orgId);
  return {
    group: 'Change',
    actions: [
      ...others.map(({ orgId, name }) => ({
        id: orgId,
        label: `Organization ${isolateBidi(name)}`,
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
