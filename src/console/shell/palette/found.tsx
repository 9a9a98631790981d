import type { SpotlightActionData, SpotlightActionGroupData } from '@mantine/spotlight';
import {
  IconActivityHeartbeat,
  IconBell,
  IconBug,
  IconCalendarUser,
  IconDots,
  type Icon,
  IconLayoutDashboard,
  IconServer2,
  IconStairs,
  IconUser,
  IconUserCheck,
  IconUsers,
} from '@tabler/icons-react';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';

import type { ResultOf } from '#console/api/actions.ts';
import { actionQuery } from '#console/api/queries.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import type { PaletteQuery } from '#console/shell/palette/palette_query.ts';
import { FOUND_TOTAL_MAX } from '#modules/search/decide/search_kinds.ts';

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
export function useFound({ text, isPutOnCall }: PaletteQuery, isOpen: boolean): SpotlightActionGroupData[] {
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
