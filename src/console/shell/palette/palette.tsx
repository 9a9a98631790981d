import {
  createSpotlight,
  Spotlight,
  type SpotlightActionData,
  type SpotlightActionGroupData,
} from '@mantine/spotlight';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type RefObject, useEffect, useRef, useState } from 'react';
import '@mantine/spotlight/styles.layer.css';

import { actionQuery, type FoundIncident, type ResultOf } from '#console/api/actions.ts';
import { incidentSearchQuery } from '#console/api/incidents.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { useDebounced } from '#console/components/use_debounced.ts';
import {
  type Icon,
  IconActivityHeartbeat,
  IconBell,
  IconBellOff,
  IconBug,
  IconCalendarUser,
  IconCheck,
  IconDots,
  IconLayoutDashboard,
  IconSearch,
  IconServer2,
  IconStairs,
  IconUser,
  IconUserCheck,
  IconUsers,
} from '#console/icons.ts';
import { type Answer, useAnswerIncidents } from '#console/pages/incidents/answer_incidents.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { PUT_ONESELF, useCommands, usePages, useSwitches } from '#console/shell/palette/commands.tsx';
import { isAnswerVerb, isOneself, type PaletteQuery, readPaletteQuery } from '#console/shell/palette/palette_query.ts';
import { FOUND_PER_KIND, FOUND_TOTAL_MAX } from '#modules/search/decide/search_kinds.ts';

const LABEL = 'Search people, services, incidents and everything else';

const PLACEHOLDER = 'Search everything, or type what to do';

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
  const { text, verb } = readPaletteQuery(typed);
  const asked = useDebounced(text);
  const isAnswer = verb === 'acknowledge' || verb === 'resolve';
  // An incident or a page may carry the word itself.
  const words = isAnswer ? typed.trim() : text;
  const searched = useDebounced(words);
  const mustAnswer = isAnswer && isAnswerVerb(typed);
  const answers = useAnswers({
    answer: isAnswer ? verb : typed.trim() === '' ? 'acknowledge' : null,
    text: asked,
    isOpen,
    saysNone: mustAnswer,
  });
  const results = useSearchResults({ text: searched, verb }, isOpen);
  const [begun, ...others] = [useCommands(typed.trim()), usePages(words), useSwitches(words)] as const;
  // Whom to put on call is among the results then.
  const commands = verb === 'put' ? { ...begun, actions: begun.actions.filter(({ id }) => id !== PUT_ONESELF) } : begun;
  // What is known at once stands above what arrives later, so that nothing moves under a finger. Only open incidents,
  // which cannot wait, come before all else.
  const atOnce = [commands, ...others].toSorted((a, b) => a.fit - b.fit);
  const groups: SpotlightActionGroupData[] =
    verb === 'put' || verb === 'silence'
      ? [...results, commands]
      : mustAnswer && answers.actions.length > 0
        ? [answers]
        : [answers, ...atOnce, ...results];
  const filled = groups.filter(({ actions }) => actions.length > 0);
  const isMoved = useSelectedFirst(filled, typed);
  return (
    <Spotlight
      store={store}
      title="Search"
      classNames={{ header: 'hidden-text' }}
      attributes={{ header: { role: 'presentation' } }}
      onSpotlightClose={onClose}
      shortcut={null}
      actions={filled}
      // The server and the groups have matched the text already.
      filter={(_, actions) => actions}
      query={typed}
      onQueryChange={setTyped}
      nothingFound="No results"
      scrollable
      maxHeight="60vh"
      // Its field stays in its place, however many results there are.
      centered={false}
      yOffset="10vh"
      searchProps={{
        leftSection: <IconSearch size={18} />,
        placeholder: PLACEHOLDER,
        'aria-label': LABEL,
        onKeyDown({ key }) {
          if (key === 'ArrowDown' || key === 'ArrowUp') isMoved.current = true;
        },
      }}
    />
  );
}

/** Keeps the first result selected while results arrive, until somebody moves to another, so that Enter opens it. */
function useSelectedFirst(groups: readonly SpotlightActionGroupData[], typed: string): RefObject<boolean> {
  const isMoved = useRef(false);
  const ids = groups.flatMap(({ actions }) => actions.map(({ id }) => id)).join(' ');
  useEffect(() => {
    isMoved.current = false;
  }, [typed]);
  useEffect(() => {
    if (typed !== '' && ids !== '' && !isMoved.current) selectFirst();
  }, [ids, typed]);
  return isMoved;
}

/** Selects the first result as Spotlight does, which selects it only when something is typed. */
function selectFirst(): void {
  const list = document.querySelector(`#${store.getState().listId}`);
  list?.querySelector('[data-selected]')?.removeAttribute('data-selected');
  list?.querySelector('[data-action]')?.setAttribute('data-selected', 'true');
  store.updateState((state) => ({ ...state, selected: 0 }));
}

interface Answering {
  readonly answer: Answer | null;
  readonly text: string;
  readonly isOpen: boolean;
  /** Whether it is said if there is no such incident. */
  readonly saysNone: boolean;
}

/** Open incidents that match the text, to acknowledge or resolve; with nothing typed, those that wait for somebody. */
function useAnswers({ answer, text, isOpen, saysNone }: Answering): SpotlightActionGroupData {
  const { org, may } = useOrganization();
  const navigate = useNavigate();
  const answering = useAnswerIncidents();
  const mayAnswer = may('oncall:edit');
  const status = answer === 'acknowledge' ? 'triggered' : 'open';
  const wanted = text.replace(/^#/, '');
  const matching = { limit: FOUND_PER_KIND, ...(wanted !== '' && { text: wanted }) };
  const { data, isPlaceholderData } = useInfiniteQuery({
    ...incidentSearchQuery(org.orgId, { status, ...matching }),
    enabled: isOpen && answer !== null && mayAnswer,
    placeholderData: keepPreviousData,
  });
  const { incidents = [], nextCursor = null } = data?.pages[0] ?? {};
  const isNone = saysNone && data !== undefined && !isPlaceholderData && incidents.length === 0;
  const isNumber = /^[0-9]+$/.test(wanted);
  const inAnyState = useInfiniteQuery({
    ...incidentSearchQuery(org.orgId, matching),
    enabled: isOpen && mayAnswer && isNone && isNumber,
  }).data;
  if (answer === null || !mayAnswer) return { group: '', actions: [] };
  const verb = answer === 'acknowledge' ? 'Acknowledge' : 'Resolve';
  if (isNone) {
    const meant = inAnyState?.pages[0]?.incidents.find(({ number }) => String(number) === wanted);
    if (isNumber && inAnyState === undefined) return { group: verb, actions: [] };
    return { group: verb, actions: [meant === undefined ? toNone() : toAnswered(meant)] };
  }
  const shown = incidents.map(({ incidentId, number, title, serviceName }): SpotlightActionData => ({
    id: `${answer} ${incidentId}`,
    label: `${verb} #${number} ${isolateBidi(title)}`,
    description: isolateBidi(serviceName),
    leftSection: <IconCheck size={18} stroke={1.75} />,
    onClick: () => answering.mutate({ answer, incidentIds: [incidentId] }),
  }));
  const more: SpotlightActionData = {
    id: `more to ${answer}`,
    label: 'More in the list',
    leftSection: <IconDots size={18} stroke={1.75} />,
    onClick: () =>
      void navigate({
        to: '/incidents',
        search: { ...(status === 'triggered' && { status }), ...(wanted !== '' && { q: wanted }) },
      }),
  };
  return { group: verb, actions: nextCursor === null ? shown : [...shown, more] };

  function toNone(): SpotlightActionData {
    const waits = answer === 'acknowledge' ? 'waits to be acknowledged' : 'is open to be resolved';
    const which = wanted === '' ? 'No incident' : isNumber ? `No incident #${wanted}` : `No incident like "${wanted}"`;
    return {
      id: `nothing to ${answer}`,
      label: `${which} ${waits}`,
      description: 'See all incidents',
      leftSection: <IconBell size={18} stroke={1.75} />,
      onClick: () => void navigate({ to: '/incidents', search: { status: 'all' } }),
    };
  }

  function toAnswered(meant: FoundIncident): SpotlightActionData {
    const { incidentId, number, title, serviceName } = meant;
    return {
      id: `open ${incidentId}`,
      label: `#${number} is ${meant.status}: ${isolateBidi(title)}`,
      description: isolateBidi(serviceName),
      leftSection: <IconBell size={18} stroke={1.75} />,
      onClick: () => void navigate({ to: '/incidents/$incidentId', params: { incidentId } }),
    };
  }
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

/** Returns what the server finds, by kind, with people to put on call, or the services to silence. */
function useSearchResults({ text, verb }: PaletteQuery, isOpen: boolean): SpotlightActionGroupData[] {
  const { org, may, session } = useOrganization();
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
  const { userId, name: ownName } = session.user;
  const others = people.filter(({ id }) => id !== userId);
  const oneself = { id: userId, name: 'yourself', detail: ownName };
  const isMeant = isOneself(text) || others.length < people.length;
  const toPut =
    verb !== 'put' ? people : isMeant ? [oneself, ...(isOneself(text) ? [] : others)] : [...others, oneself];
  const put: SpotlightActionGroupData = {
    group: 'Put on call',
    actions: may('oncall:edit')
      ? toPut.map(({ id, name, detail }) => ({
          id: `put ${id}`,
          label: `Put ${isolateBidi(name)} on call`,
          description: detail ?? undefined,
          leftSection: <IconUserCheck size={18} stroke={1.75} />,
          onClick: () => void navigate({ to: '/oncall', search: { put: id } }),
        }))
      : [],
  };
  const services = kinds.find(({ kind }) => kind === 'service')?.items ?? [];
  const silence: SpotlightActionGroupData = {
    group: 'Silence',
    actions: may('oncall:edit')
      ? services.map(({ id, name, detail }) => ({
          id: `silence ${id}`,
          label: `New maintenance of ${isolateBidi(name)}`,
          description: detail ?? undefined,
          leftSection: <IconBellOff size={18} stroke={1.75} />,
          onClick: () => void navigate({ to: '/rules', search: { service: id }, hash: 'maintenance' }),
        }))
      : [],
  };
  if (verb === 'silence') return [silence];
  if (verb === 'put' && put.actions.length > 0) return [put];
  return [...kinds.map(toGroup), put];

  function toGroup({ kind, items, total }: Found): SpotlightActionGroupData {
    const { group, icon: KindIcon } = KINDS[kind];
    const shown = items.map(({ id, name, detail }): SpotlightActionData => ({
      id,
      label: isolateBidi(name),
      description: detail === null ? undefined : isolateBidi(detail),
      leftSection: <KindIcon size={18} stroke={1.75} />,
      onClick: () => openers[kind].open(id),
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
function useOpeners(q: string): Readonly<Record<Kind, { open(id: string): void; list(): void }>> {
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
      open: (person) => void navigate({ to: '/oncall', search: { person } }),
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
