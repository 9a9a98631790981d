import { Button, Skeleton, TextInput } from '@mantine/core';
import { useDebouncedCallback, useMediaQuery } from '@mantine/hooks';
import { keepPreviousData, useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';

import type { OpenCounts, Service } from '#console/api/actions.ts';
import { openByServiceQuery } from '#console/api/incidents.ts';
import { type ServiceHealth, serviceHealthQuery, serviceSearchQuery } from '#console/api/services.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { lazyDialog } from '#console/components/lazy_dialog.tsx';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { TeamFilter } from '#console/components/lists/team_filter.tsx';
import { Page } from '#console/components/page.tsx';
import { IconFilterOff, IconPlus, IconSearch, IconServer2 } from '#console/icons.ts';
import { Sparkline } from '#console/pages/services/sparkline.tsx';
import { Status } from '#console/components/status.tsx';
import { CAPABILITY_NAMES, euroText, PRICE_EUR } from '#console/components/text/capability.ts';
import { Name } from '#console/components/text/name.tsx';
import { wholeNumberText } from '#console/components/text/time_text.ts';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { shortCount } from '#console/pages/exceptions/count_text.ts';
import type { ServiceFilter } from '#console/pages/services/service_filter.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { SERVICES_PAGE } from '#modules/pages/decide/page_queries.ts';
import classes from '#console/pages/services/service_list.module.css';

const CreateService = lazyDialog(() =>
  import('#console/pages/services/create_service.tsx').then((m) => m.CreateService),
);

const route = getRouteApi('/inside/services');

/** Number of services from which a search field is shown: it is useful only if not all services are in sight. */
const SEARCH_FROM = 8;
const DEBOUNCE_MS = 200;

export function ServiceList() {
  const { may, org } = useOrganization();
  const { text, team, create: isCreating = false } = route.useSearch();
  const navigate = route.useNavigate();
  const show = (change: Partial<ServiceFilter>): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  const services = useServices({ text, team });
  const isNarrowed = text !== undefined || team !== undefined;
  const { rows, total, isLoading, error, refetch } = services;
  const [typed, setTyped] = useState(text ?? '');
  const search = useDebouncedCallback((wanted: string) => show({ text: wanted.trim() || undefined }), DEBOUNCE_MS);
  const find = (wanted: string): void => {
    setTyped(wanted);
    search(wanted);
  };
  const create = may('services:edit') && (
    <Button leftSection={<IconPlus size={18} />} onClick={() => show({ create: true })}>
      Create a service
    </Button>
  );
  const isEmpty = !isLoading && error === null && total === 0 && !isNarrowed;
  return (
    <Page
      title="Services"
      permission="services:edit"
      lead="The programs that you run: what they send, and what watches them."
      actions={isEmpty ? undefined : create}
    >
      {error !== null && <ErrorAlert error={error} onRetry={refetch} />}
      {(isLoading || isNarrowed || total >= SEARCH_FROM) && (
        <Search text={typed} total={total} onChange={find}>
          <TeamFilter value={team} onChange={(chosen) => show({ team: chosen })} />
        </Search>
      )}
      {isLoading && error === null && <Skeleton height={320} radius="lg" />}
      {isEmpty && (
        <EmptyState icon={<IconServer2 size={24} />} title="No service yet" actions={create}>
          A service is one program that you run. It gets a key for sending metrics and a DSN for Sentry SDKs.
          {org.showsPrices && ` Each capability costs ${euroText(PRICE_EUR)} a month.`}
        </EmptyState>
      )}
      {!isLoading && error === null && total === 0 && isNarrowed && (
        <EmptyState
          icon={<IconFilterOff size={24} />}
          title="Nothing matches"
          actions={
            <Button
              variant="default"
              onClick={() => {
                setTyped('');
                show({ text: undefined, team: undefined });
              }}
            >
              Show all services
            </Button>
          }
        >
          {text === undefined ? 'They own no service.' : 'No such service has this in its name or environment.'}
        </EmptyState>
      )}
      {!isLoading && rows.length > 0 && <ServiceRows {...services} />}
      {isCreating && <CreateService onClose={() => show({ create: undefined })} />}
    </Page>
  );
}

interface SearchProps {
  readonly text: string;
  readonly total: number;
  readonly onChange: (text: string) => void;
  readonly children: ReactNode;
}

function Search({ text, total, onChange, children }: SearchProps) {
  return (
    <div className={`${classes.search} row wraps`}>
      <TextInput
        aria-label="Find a service"
        placeholder="Name or environment"
        leftSection={<IconSearch size={16} />}
        value={text}
        onChange={(event) => onChange(event.currentTarget.value)}
        maxLength={200}
      />
      {children}
      <span className="dimmed small nowrap numbers" aria-live="polite">
        {wholeNumberText(total)} {total === 1 ? 'service' : 'services'}
      </span>
    </div>
  );
}

/** Height of a row, as in the style sheet. */
const ROW_PX = 60;
const ROW_ON_PHONE_PX = 108;
const OVERSCAN = 12;

type ServiceRowsProps = Pick<
  ReturnType<typeof useServices>,
  'rows' | 'total' | 'openOf' | 'healthOf' | 'hasMore' | 'loadMore'
>;

/** List of any number of services, of which only the rows on the screen are drawn. */
function ServiceRows({ rows, total, openOf, healthOf, hasMore, loadMore }: ServiceRowsProps) {
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  useEffect(() => setTop((list.current?.getBoundingClientRect().top ?? 0) + window.scrollY), []);
  const isPhone = useMediaQuery('(max-width: 48em)', false, { getInitialValueInEffect: false });
  const height = isPhone ? ROW_ON_PHONE_PX : ROW_PX;
  const count = hasMore ? Math.max(total, rows.length) : rows.length;
  const virtualizer = useWindowVirtualizer({
    count,
    estimateSize: () => height,
    overscan: OVERSCAN,
    // All rows of the screen are drawn at first, in pieces, and not at once after the list was drawn empty.
    initialRect: { width: innerWidth, height: innerHeight },
    scrollMargin: top,
    getItemKey: (index) => rows[index]?.serviceId ?? index,
  });
  useEffect(() => virtualizer.measure(), [virtualizer, height]);
  const shown = virtualizer.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  const more = useEffectEvent(loadMore);
  const isShort = hasMore && last >= rows.length - 1;
  useEffect(() => {
    if (isShort) more();
  }, [isShort, rows.length]);
  return (
    <div className="surface">
      <div className={`${classes.head} dimmed tiny strong`} aria-hidden>
        <span>Service</span>
        <span>Needs attention</span>
        <span>Exceptions, 24 h</span>
        <span>Last metric</span>
        <span>Rules</span>
      </div>
      <ul
        ref={list}
        className={`${classes.rows} plain-list`}
        style={{ height: virtualizer.getTotalSize() }}
        aria-label="Services"
      >
        {shown.map(({ index, key, start }) => {
          const service = rows[index];
          return (
            <li
              key={key}
              className={classes.row}
              style={{ transform: `translateY(${start - top}px)` }}
              data-row={service?.serviceId}
              aria-setsize={count}
              aria-posinset={index + 1}
            >
              {service === undefined ? (
                <Skeleton height={20} width="40%" />
              ) : (
                <ServiceRow
                  service={service}
                  open={openOf.get(service.serviceId)}
                  health={healthOf.get(service.serviceId)}
                />
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

interface ServiceRowProps {
  readonly service: Service;
  readonly open: OpenCounts | undefined;
  readonly health: ServiceHealth | undefined;
}

function ServiceRow({ service, open, health }: ServiceRowProps) {
  const { serviceId, name, environment, capabilities } = service;
  const about = [environment, capabilities.map((capability) => CAPABILITY_NAMES[capability]).join(', ')];
  const sub = about.filter((text) => text !== null && text !== '').join(' · ');
  return (
    <>
      <div className={`${classes.name} shrinks`}>
        <Link to="/services/$serviceId" params={{ serviceId }} className="row-link" data-row-link>
          <Name>{name}</Name>
        </Link>
        <div className="ellipsis dimmed tiny">{sub === '' ? 'Nothing is enabled yet' : <Name>{sub}</Name>}</div>
      </div>
      <div className={`${classes.cell} row spaced nowrap shrinks`}>
        <Attention counts={open} refused={health?.refused ?? 0} />
      </div>
      <div className={`${classes.cell} row spaced nowrap shrinks`}>
        {health !== undefined && <Events service={service} health={health} />}
      </div>
      <div className={`${classes.cell} row spaced nowrap shrinks`}>
        {health !== undefined && <LastMetric service={service} health={health} />}
      </div>
      <div className={`${classes.cell} row spaced nowrap shrinks`}>
        {health !== undefined && <Rules service={service} health={health} />}
      </div>
    </>
  );
}

/** Counts of open incidents, and of data that was refused. */
function Attention({ counts, refused }: { readonly counts: OpenCounts | undefined; readonly refused: number }) {
  if (counts === undefined && refused === 0) return <span className="dimmed">nothing</span>;
  return (
    <>
      {counts !== undefined && counts.triggered > 0 && (
        <Status tone="red" isUrgent>
          {counts.triggered} triggered
        </Status>
      )}
      {counts !== undefined && counts.triggered === 0 && (
        <Status tone="amber">{counts.acknowledged} acknowledged</Status>
      )}
      {refused > 0 && <Status tone="amber">{shortCount(refused)} refused</Status>}
    </>
  );
}

interface HealthProps {
  readonly service: Service;
  readonly health: ServiceHealth;
}

function Events({ service, health: { events } }: HealthProps) {
  if (!service.capabilities.includes('exceptions')) return <span className="dimmed">–</span>;
  const total = events.reduce((sum, count) => sum + count, 0);
  const text = `${wholeNumberText(total)} ${total === 1 ? 'event' : 'events'}`;
  if (total === 0) return <span className="dimmed">none</span>;
  return (
    <span className={`${classes.spark} row spaced shrinks`} title={`${text} in the last 24 hours`}>
      <Sparkline values={events} label={`${text} in the last 24 hours`} tone="red" height={20} />
      <span className="numbers">{shortCount(total)}</span>
    </span>
  );
}

function LastMetric({ service, health: { lastPointAt } }: HealthProps) {
  if (!service.capabilities.includes('metrics')) return <span className="dimmed">–</span>;
  return lastPointAt === null ? <span className="dimmed">none yet</span> : <Timestamp at={lastPointAt} />;
}

function Rules({ service, health: { rules, pagingRules } }: HealthProps) {
  if (!service.capabilities.includes('oncall')) return <span className="dimmed">–</span>;
  if (rules === 0) return <span className="dimmed">none</span>;
  return (
    <span>
      <span className="numbers">{rules}</span>
      {pagingRules === 0 && <span className="dimmed">, pages nobody</span>}
    </span>
  );
}

/** Most services with open incidents, which stand before the others. */
const ATTENTION_MAX = 50;
const REFRESH_MS = 60_000;

const mostUrgentFirst = (a: OpenCounts, b: OpenCounts): number =>
  b.triggered - a.triggered || b.acknowledged - a.acknowledged;

/** Returns the services in the order of the list: those with open incidents, then all others by name, page by page. */
function useServices({ text, team }: Pick<ServiceFilter, 'text' | 'team'>) {
  const { orgId } = useOrganization().org;
  const search = useInfiniteQuery({
    ...serviceSearchQuery(orgId, {
      limit: SERVICES_PAGE,
      ...(text !== undefined && { text }),
      ...(team !== undefined && { ownedBy: team }),
    }),
    placeholderData: keepPreviousData,
  });
  const open = useQuery(openByServiceQuery(orgId));
  const openOf = useMemo(() => new Map(open.data?.services.map((counts) => [counts.serviceId, counts])), [open.data]);
  const urgentIds = useMemo(
    () =>
      text === undefined && team === undefined
        ? [...openOf.values()]
            .toSorted(mostUrgentFirst)
            .slice(0, ATTENTION_MAX)
            .map(({ serviceId }) => serviceId)
        : [],
    [openOf, text, team],
  );
  const urgent = useInfiniteQuery({
    ...serviceSearchQuery(orgId, { serviceIds: urgentIds, limit: ATTENTION_MAX }),
    enabled: urgentIds.length > 0,
    placeholderData: keepPreviousData,
  });
  const rows = useMemo(() => {
    const byId = new Map(
      (urgentIds.length === 0 ? undefined : urgent.data)?.pages
        .flatMap((page) => page.services)
        .map((service) => [service.serviceId, service]),
    );
    const first = urgentIds.flatMap((serviceId) => byId.get(serviceId) ?? []);
    const all = search.data?.pages.flatMap((page) => page.services) ?? [];
    const others = all.filter(({ serviceId }) => !byId.has(serviceId));
    return [...first, ...uniqueByIds(others)];
  }, [search.data, urgent.data, urgentIds]);
  return {
    rows,
    total: search.data?.pages[0]?.total ?? 0,
    openOf,
    healthOf: useHealth(rows),
    isLoading: search.isPending || open.isLoading || urgent.isLoading,
    error: search.data === undefined ? search.error : null,
    refetch: () => void search.refetch(),
    hasMore: search.hasNextPage,
    loadMore: () => {
      if (search.hasNextPage && !search.isFetchingNextPage) void search.fetchNextPage();
    },
  };
}

function uniqueByIds(services: readonly Service[]): Service[] {
  return [...new Map(services.map((service) => [service.serviceId, service])).values()];
}

/** Returns the health of each row; it is requested by the hundred. */
function useHealth(rows: readonly Service[]): ReadonlyMap<string, ServiceHealth> {
  const { orgId } = useOrganization().org;
  const ids = rows.map(({ serviceId }) => serviceId);
  const batches = Array.from({ length: Math.ceil(ids.length / SERVICES_PAGE) }, (_, index) =>
    ids.slice(index * SERVICES_PAGE, (index + 1) * SERVICES_PAGE),
  );
  const answers = useQueries({
    queries: batches.map((batch) => ({ ...serviceHealthQuery(orgId, batch), refetchInterval: REFRESH_MS })),
  });
  return new Map(answers.flatMap(({ data }) => data?.services ?? []).map((health) => [health.serviceId, health]));
}
