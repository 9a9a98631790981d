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
import { isolateBidi } from '#console/components/text/bidi.ts';
import { useNavigation } from '#console/shell/navigation.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const RESULTS_MAX = 12;
/** Pause in typing, in milliseconds, after which the server is asked. */
const DEBOUNCE_MS = 150;

const [store, spotlight] = createSpotlight();

interface PaletteProps {
  readonly isOpen: boolean;
  /** Called on closing, and when a result was chosen. */
  readonly onClose: () => void;
}

/** Command palette: opens pages, incidents and services by typing part of their name. */
export function Palette({ isOpen, onClose }: PaletteProps) {
  useEffect(() => {
    if (isOpen) spotlight.open();
    else spotlight.close();
  }, [isOpen]);
  const [query, setQuery] = useState('');
  const [text] = useDebouncedValue(query.trim(), DEBOUNCE_MS);
  const groups = [usePages(), useIncidents(text, isOpen), useServices(text, isOpen), useSwitches()].filter(
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
      limit={RESULTS_MAX}
      nothingFound="No results"
      scrollable
      maxHeight="60vh"
      searchProps={{
        leftSection: <IconSearch size={18} />,
        placeholder: 'Search pages, services and incidents',
        'aria-label': 'Search pages, services and incidents',
      }}
    />
  );
}

function usePages(): SpotlightActionGroupData {
  const navigate = useNavigate();
  const { isAdmin } = useOrganization();
  const { main, settings } = useNavigation();
  const pages = [...main, ...settings.filter(({ isForAdmins }) => isAdmin || !isForAdmins)];
  return {
    group: 'Pages',
    actions: pages.map(({ to, label, icon: Icon }) => ({
      id: to,
      label,
      leftSection: <Icon size={18} stroke={1.75} />,
      onClick: () => void navigate({ to }),
    })),
  };
}

/** Returns incidents that match. The server searches, because there may be too many to load. */
function useIncidents(text: string, isOpen: boolean): SpotlightActionGroupData {
  const navigate = useNavigate();
  const search = { status: 'open' as const, limit: RESULTS_MAX, ...(text !== '' && { text }) };
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
    ...serviceSearchQuery(useOrganization().org.orgId, { limit: RESULTS_MAX, ...(text !== '' && { text }) }),
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

function useSwitches(): SpotlightActionGroupData {
  const { session, org, switchTo } = useOrganization();
  const { setColorScheme } = useMantineColorScheme();
  const others = session.organizations.filter(({ orgId }) => orgId !== org.orgId);
  return {
    group: 'Switch to',
    actions: [
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
    ],
  };
}
