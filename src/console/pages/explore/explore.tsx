import { Button, Skeleton } from '@mantine/core';
import { useElementSize, useMediaQuery } from '@mantine/hooks';
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, redirect } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';

import { chartsQuery, metricListQuery } from '#console/api/charts.ts';
import { actionQuery, type ResultOf } from '#console/api/actions.ts';
import { heldAnswers } from '#console/api/initial_data.ts';
import { serviceSearchQuery } from '#console/api/services.ts';
import { Card } from '#console/components/card.tsx';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { prefetchOnInteraction } from '#console/components/prefetch_on_interaction.ts';
import { Page } from '#console/components/page.tsx';
import { RangePicker } from '#console/components/lists/range_picker.tsx';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
import { isDefault, rangeOf, searchOf, type TimeRange } from '#console/components/text/time_range.ts';
import classes from '#console/pages/explore/explore.module.css';
import { IconArrowLeft, IconChartLine, IconPlus } from '#console/icons.ts';
import { queriesOf, withMetric } from '#console/pages/explore/explore_queries.ts';
import { type ExploreSearch, readExploreSearch } from '#console/pages/explore/explore_search.ts';
import { MetricList } from '#console/pages/explore/metric_list.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

const MetricView = lazyPart(() => import('#console/pages/explore/metric_view.tsx').then((m) => m.MetricView));

/** Charts are loaded after the list, before a metric is pressed. */
prefetchOnInteraction(MetricView.preload);
if (new URLSearchParams(location.search).has('metric')) MetricView.preload();

const ServiceSnippet = lazyPart(() =>
  import('#console/pages/services/service_snippet.tsx').then((m) => m.ServiceSnippet),
);

const route = getRouteApi('/inside/explore');

/** Page of every metric of a service, and a chart of the chosen one. The address holds all of its state. */
export function Explore() {
  const { org, may } = useOrganization();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const queryClient = useQueryClient();
  const { ref, width } = useElementSize();
  const list = useRef<HTMLElement>(null);
  const isNarrow = useMediaQuery('(max-width: 60em)', false, { getInitialValueInEffect: false });
  const lastKey = lastPlaceKey(org.orgId);
  // Somebody who comes back finds what they last looked at.
  const [last, setLast] = useState(() => (search.service === undefined ? readLastPlace(lastKey) : null));
  const { data, error, refetch } = useQuery({
    ...actionQuery(org.orgId, 'services', 'find_service_with_metrics', {}),
    enabled: search.service === undefined && last === null,
  });
  const first = data?.service ?? null;
  const show = (change: Partial<ExploreSearch>, isStep = false): void => {
    void navigate({ search: (before) => ({ ...before, ...change }), replace: !isStep });
  };
  const isFirst = first !== null && first.serviceId === search.service;
  const named = useInfiniteQuery({
    ...serviceSearchQuery(org.orgId, { serviceIds: search.service === undefined ? [] : [search.service], limit: 1 }),
    enabled: search.service !== undefined && !isFirst,
  }).data?.pages[0];
  const chosen = isFirst ? first : named?.services[0];
  useEffect(() => {
    const { service, metric, where } = search;
    if (service !== undefined) localStorage.setItem(lastKey, JSON.stringify({ service, metric, where }));
  }, [search, lastKey]);
  const start = search.service === undefined ? (last ?? (first && { service: first.serviceId })) : null;
  useEffect(() => {
    if (start !== null) void navigate({ search: (before) => ({ ...before, ...start }), replace: true });
  }, [start?.service, navigate]);
  const isLastGone = last !== null && last.service === search.service && named?.services.length === 0;
  useEffect(() => {
    if (!isLastGone) return;
    localStorage.removeItem(lastKey);
    setLast(null);
    void navigate({ search: {}, replace: true });
  }, [isLastGone, navigate, lastKey]);

  const range = rangeOf(search);
  const setRange = (next: TimeRange): void => show(searchOf(isDefault(next) ? NO_RANGE : next), true);
  const isChosen = search.metric !== undefined;
  return (
    <Page title="Metrics" actions={<RangePicker range={range} onChange={setRange} />}>
      {error !== null && <ErrorAlert error={error} onRetry={() => void refetch()} />}
      {data?.service === null ? (
        <EmptyState
          icon={<IconChartLine size={24} />}
          title="No service yet"
          {...(may('services:edit') && {
            actions: (
              <Button
                leftSection={<IconPlus size={16} />}
                renderRoot={(props: object) => <Link to="/services" search={{ create: true }} {...props} />}
              >
                Create a service
              </Button>
            ),
          })}
        >
          Metrics come from services. Create one, and it gets the key that it sends them with, by OpenTelemetry,
          Prometheus or plain HTTP.
        </EmptyState>
      ) : (
        <div className={classes.columns}>
          {(!isNarrow || !isChosen) && (
            <aside className={`${classes.list} spaced shrinks`} ref={list} aria-label="Metrics of the service">
              <ServicePicker
                isRequired
                value={search.service}
                name={chosen?.name ?? ''}
                onChange={(service) => {
                  if (service !== undefined) void navigate({ search: { service, ...searchOf(range) } });
                }}
              />
              {search.service !== undefined && (
                <MetricList
                  serviceId={search.service}
                  search={search}
                  onSearch={(change) => show(change)}
                  onChoose={(metric) => void navigate({ search: (before) => withMetric(before, metric) })}
                  onIntend={(metric) => {
                    // Prefetched before it is pressed, so that its chart is shown at once.
                    // Its chart stands beside the list, or in its place.
                    const chartWidth = isNarrow ? (list.current?.clientWidth ?? 0) : width;
                    const intended = queriesOf(withMetric(search, metric), chartWidth);
                    if (chartWidth > 0) void queryClient.prefetchQuery(chartsQuery(org.orgId, range, intended));
                  }}
                />
              )}
            </aside>
          )}
          {(!isNarrow || isChosen) && (
            <div className="shrinks" ref={ref}>
              {isNarrow && (
                <Button
                  variant="subtle"
                  color="gray"
                  px={0}
                  leftSection={<IconArrowLeft size={16} />}
                  onClick={() => show({ metric: undefined, where: undefined, split: undefined }, true)}
                >
                  All metrics
                </Button>
              )}
              {search.service === undefined ? (
                <Skeleton height={420} />
              ) : isChosen && width > 0 ? (
                <MetricView
                  search={search}
                  range={range}
                  width={width}
                  onChange={show}
                  onRange={setRange}
                  whileLoading={<Skeleton height={420} />}
                />
              ) : (
                !isNarrow && <NothingChosen serviceId={search.service} order={search.order} />
              )}
            </div>
          )}
          {isNarrow && !isChosen && search.service !== undefined && (
            <SendMetrics serviceId={search.service} order={search.order} />
          )}
        </div>
      )}
    </Page>
  );
}

/** Returns the key in the browser's store of where somebody last was. */
const lastPlaceKey = (orgId: string): string => `tocsin.metrics.last.${orgId}`;

/** Goes on to the service that a first visit opens, before anything is drawn, if the page holds it. */
export function redirectFirstVisit(search: ExploreSearch): void {
  for (const [key, answer] of heldAnswers()) {
    const [orgId = '', action] = JSON.parse(key) as readonly string[];
    if (action !== 'find_service_with_metrics' || localStorage.getItem(lastPlaceKey(orgId)) !== null) continue;
    const { service } = answer as ResultOf<'find_service_with_metrics'>;
    if (service === null) continue;
    throw redirect({ to: '/explore', search: { ...search, service: service.serviceId }, replace: true });
  }
}

function readLastPlace(key: string): ExploreSearch | null {
  try {
    const { service, metric, where } = readExploreSearch(
      JSON.parse(localStorage.getItem(key) ?? '{}') as Record<string, unknown>,
    );
    if (service === undefined) return null;
    return { service, ...(metric !== undefined && { metric }), ...(where !== undefined && { where }) };
  } catch {
    return null;
  }
}

interface Listed {
  readonly serviceId: string;
  readonly order: ExploreSearch['order'] | undefined;
}

/** Whether the service has sent no metric at all, according to its list. */
function useIsWithoutMetrics({ serviceId, order }: Listed): boolean {
  const { orgId } = useOrganization().org;
  const { data, isPlaceholderData } = useInfiniteQuery(metricListQuery(orgId, { serviceId, sort: order ?? 'name' }));
  return data?.pages[0]?.total === 0 && !isPlaceholderData;
}

function NothingChosen(listed: Listed) {
  if (useIsWithoutMetrics(listed)) return <SendMetrics {...listed} />;
  return (
    <EmptyState icon={<IconChartLine size={24} />} title="Choose a metric">
      Its chart appears here. You can split it by a label, compare it with yesterday or last week, and make a rule or a
      widget of it.
    </EmptyState>
  );
}

const SENDERS = ['otlp', 'prometheus', 'curl'];

/** Instructions to start sending metrics, while the service has sent none. */
function SendMetrics(listed: Listed) {
  if (!useIsWithoutMetrics(listed)) return null;
  const { serviceId } = listed;
  return (
    <Card title="No metric yet" about="Send some in one of these ways. They show here within seconds.">
      <ServiceSnippet key={serviceId} serviceId={serviceId} capability="metrics" kinds={SENDERS} />
    </Card>
  );
}

/** Range in place of the default, which the address leaves out. */
const NO_RANGE: TimeRange = { kind: 'last', minutes: 0 };
