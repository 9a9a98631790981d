import { Button, Group, NativeSelect, NumberInput, Skeleton, Stack, Textarea, TextInput } from '@mantine/core';
import { IconPlus, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { invoke, topicKey } from '#console/api/actions.ts';
import { isOfService, keptIfSame } from '#console/api/charts.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { Autocomplete } from '#console/components/forms/autocomplete.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { Form, SubmitButtons } from '#console/components/forms/form.tsx';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
import { TeamPicker } from '#console/components/forms/team_picker.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { useDebounced } from '#console/components/use_debounced.ts';
import { DashboardPicker } from '#console/pages/dashboards/dashboard_picker.tsx';
import { useOrganization } from '#console/shell/organization.tsx';
import {
  CHART_LOOKS,
  type ChartLook,
  isOfMetrics,
  QUERIES_MAX,
  type Widget,
  WIDGET_KINDS,
  type WidgetFacts,
  type WidgetKind,
  type WidgetQuery,
} from '#modules/dashboards/decide/widget.ts';
import {
  type Aggregation,
  AGGREGATION_NAMES,
  askedOf,
  SHOWN_AGGREGATIONS,
  shownOf,
} from '#modules/metrics/decide/aggregation.ts';
import { type Unit, UNITS } from '#modules/metrics/decide/quantity.ts';
import { selectorOfName } from '#modules/metrics/decide/selector_text.ts';

const KIND_TITLES: Readonly<Record<WidgetKind, string>> = {
  series: 'Chart',
  number: 'Number',
  table: 'Table',
  heatmap: 'Heatmap of a histogram',
  text: 'Text',
  incidents: 'Incidents',
  exceptions: 'Exceptions',
  monitors: 'Cron monitors',
  oncall: 'On call',
};

const LOOK_NAMES: Readonly<Record<ChartLook, string>> = {
  lines: 'Lines',
  bars: 'Bars',
  stacked: 'Areas that stand on each other',
};

const WidgetPreview = lazyPart(() =>
  import('#console/pages/dashboards/widget_preview.tsx').then((m) => m.WidgetPreview),
);

interface WidgetEditorProps {
  readonly dashboardId: string;
  /** Widget to edit; null for a new one. */
  readonly widget: Widget | null;
  readonly dashboardServiceId: string | null;
  onSave(facts: WidgetFacts): void;
  readonly onClose: () => void;
}

const UNIT_NAMES: Readonly<Record<Unit, string>> = {
  none: 'None',
  seconds: 'Seconds',
  bytes: 'Bytes',
  bits: 'Bits',
  ratio: 'Share of one, as %',
  percent: 'Percent',
  celsius: 'Degrees Celsius',
  hertz: 'Hertz',
  volts: 'Volts',
  watts: 'Watts',
};

const EMPTY_QUERY: WidgetQuery = {
  serviceId: null,
  metricName: '',
  aggregation: 'avg',
  isRate: false,
  splitBy: null,
  top: 5,
};
const LABELS = {
  kind: 'Kind',
  title: 'Title',
  queries: 'Lines',
  text: 'Text',
  serviceId: 'Service',
  teamId: 'Team',
  look: 'Drawn as',
  threshold: 'Threshold',
  unit: 'Unit',
  leadsTo: 'Leads to',
};

function factsOf(widget: Widget | null): WidgetFacts {
  const { kind, title = '', queries = [], text = '', serviceId = null, teamId = null } = widget ?? {};
  return {
    kind: kind ?? 'series',
    title,
    queries: queries.length === 0 ? [EMPTY_QUERY] : queries,
    text,
    serviceId,
    teamId,
    look: widget?.look ?? 'lines',
    threshold: widget?.threshold ?? null,
    unit: widget?.unit ?? null,
    leadsTo: widget?.leadsTo ?? null,
  };
}

/** Dialog of all properties of a widget. */
export function WidgetEditor({ dashboardId, widget, dashboardServiceId, onSave, onClose }: WidgetEditorProps) {
  const [values, setValues, draft] = useDraftState<WidgetFacts>({
    form: `widget ${dashboardId} ${widget?.id ?? 'new'}`,
    base: factsOf(widget),
  });
  const { kind, title, queries, text, serviceId, teamId, look = 'lines', threshold = null, unit = null } = values;
  const { leadsTo = null } = values;
  const isOfService = kind === 'incidents' || kind === 'exceptions' || kind === 'monitors';
  const change = (part: Partial<WidgetFacts>): void => setValues({ ...values, ...part });
  const [isSent, setIsSent] = useState(false);
  const isMetric = isOfMetrics(kind);
  const isSingle = kind === 'number' || kind === 'heatmap';
  const shown = isSingle ? queries.slice(0, 1) : queries;
  const faultsOf = ({ metricName, serviceId: queryServiceId }: WidgetQuery) => ({
    metric: isSent && metricName.trim() === '' ? 'Choose a metric.' : null,
    service: isSent && queryServiceId === null && dashboardServiceId === null ? 'Choose a service.' : null,
  });
  const isComplete =
    (!isMetric ||
      shown.every((query) => query.metricName.trim() !== '' && (query.serviceId ?? dashboardServiceId) !== null)) &&
    (kind !== 'text' || text.trim() !== '');
  const setQuery = (index: number, part: Partial<WidgetQuery>): void =>
    change({ queries: queries.map((query, place) => (place === index ? { ...query, ...part } : query)) });
  const save = (): void => {
    setIsSent(true);
    if (!isComplete) return;
    const [first] = shown;
    const usual = isMetric ? (first?.metricName ?? '') : kind === 'text' ? 'Text' : KIND_TITLES[kind];
    draft.done();
    onSave({
      kind,
      title: title.trim() === '' ? usual : title.trim(),
      queries: isMetric ? shown.map((query) => ({ ...query, metricName: query.metricName.trim() })) : [],
      text: kind === 'text' ? text : '',
      serviceId: isOfService ? serviceId : null,
      teamId: kind === 'oncall' ? teamId : null,
      ...(kind === 'series' && { look }),
      ...((kind === 'series' || kind === 'number') && { threshold }),
      ...(isMetric && { unit }),
      leadsTo,
    });
  };
  return (
    <Dialog title={widget === null ? 'Add a widget' : 'Edit the widget'} onClose={onClose} isWide>
      <Form error={null} onSubmit={() => save()}>
        <Stack>
          <DraftNotice draft={draft} labels={LABELS} />
          <NativeSelect
            label="Kind"
            value={kind}
            data={WIDGET_KINDS.map((value) => ({ value, label: KIND_TITLES[value] }))}
            onChange={(event) =>
              change({ kind: WIDGET_KINDS.find((kind) => kind === event.currentTarget.value) ?? 'series' })
            }
            data-autofocus
          />
          <TextInput
            label="Title"
            placeholder="Named after what it shows"
            value={title}
            maxLength={200}
            onChange={(event) => change({ title: event.currentTarget.value })}
          />
          {isMetric &&
            shown.map((query, index) => (
              // Queries have no name but their place.
              <Stack key={`query-${String(index)}`} gap="xs" component="fieldset" p={0} m={0} style={{ border: 0 }}>
                <legend className={shown.length > 1 ? undefined : 'hidden-text'}>Line {index + 1}</legend>
                {(dashboardServiceId === null || query.serviceId !== null) && (
                  <ServicePicker
                    value={query.serviceId ?? undefined}
                    onChange={(next) => setQuery(index, { serviceId: next ?? null })}
                    error={faultsOf(query).service}
                  />
                )}
                <MetricField
                  serviceId={query.serviceId ?? dashboardServiceId}
                  value={query.metricName}
                  error={faultsOf(query).metric}
                  onChange={(metricName, usual) =>
                    setQuery(index, {
                      metricName,
                      ...(usual !== null && { aggregation: usual, isRate: usual === 'sum' }),
                    })
                  }
                />
                {kind !== 'heatmap' && (
                  <Group grow align="end">
                    <NativeSelect
                      label="Aggregation"
                      value={shownOf(query.aggregation, query.isRate)}
                      data={SHOWN_AGGREGATIONS.map((value) => ({ value, label: AGGREGATION_NAMES[value] }))}
                      onChange={(event) =>
                        setQuery(
                          index,
                          askedOf(SHOWN_AGGREGATIONS.find((shown) => shown === event.currentTarget.value) ?? 'avg'),
                        )
                      }
                    />
                    {!isSingle && (
                      <TextInput
                        label="Split by label"
                        placeholder="Nothing"
                        value={query.splitBy ?? ''}
                        maxLength={200}
                        onChange={(event) => setQuery(index, { splitBy: event.currentTarget.value.trim() || null })}
                      />
                    )}
                    {shown.length > 1 && (
                      <Button
                        variant="default"
                        leftSection={<IconTrash size={16} />}
                        onClick={() => change({ queries: queries.filter((_, place) => place !== index) })}
                      >
                        Remove line
                      </Button>
                    )}
                  </Group>
                )}
              </Stack>
            ))}
          {(kind === 'series' || kind === 'table') && queries.length < QUERIES_MAX && (
            <Button
              variant="subtle"
              leftSection={<IconPlus size={16} />}
              onClick={() =>
                change({ queries: [...queries, { ...EMPTY_QUERY, serviceId: queries.at(-1)?.serviceId ?? null }] })
              }
            >
              Add a line
            </Button>
          )}
          {kind === 'text' && (
            <Textarea
              label="Text"
              description="A line that begins with # is a heading, one that begins with - is an item."
              autosize
              minRows={4}
              maxRows={14}
              maxLength={4_000}
              value={text}
              error={isSent && text.trim() === '' ? 'Write something.' : null}
              onChange={(event) => change({ text: event.currentTarget.value })}
            />
          )}
          {kind === 'series' && (
            <Group grow align="start">
              <NativeSelect
                label="Drawn as"
                value={look}
                data={CHART_LOOKS.map((value) => ({ value, label: LOOK_NAMES[value] }))}
                onChange={(event) =>
                  change({ look: CHART_LOOKS.find((candidate) => candidate === event.currentTarget.value) ?? 'lines' })
                }
              />
            </Group>
          )}
          {isMetric && (
            <Group grow align="start">
              {kind !== 'table' && kind !== 'heatmap' && (
                <NumberInput
                  label={kind === 'series' ? 'Line at' : 'Threshold'}
                  placeholder={kind === 'series' ? 'No line' : 'No gauge'}
                  value={threshold ?? ''}
                  onChange={(value) => change({ threshold: typeof value === 'number' ? value : null })}
                />
              )}
              <NativeSelect
                label="Unit"
                value={unit ?? ''}
                data={[
                  { value: '', label: 'As the name tells' },
                  ...UNITS.map((value) => ({ value, label: UNIT_NAMES[value] })),
                ]}
                onChange={(event) =>
                  change({ unit: UNITS.find((candidate) => candidate === event.currentTarget.value) ?? null })
                }
              />
            </Group>
          )}
          {isMetric && (
            <WidgetPreview
              facts={{ ...values, queries: shown }}
              dashboardServiceId={dashboardServiceId}
              whileLoading={<Skeleton height="14rem" />}
            />
          )}
          {isOfService && (
            <ServicePicker value={serviceId ?? undefined} onChange={(next) => change({ serviceId: next ?? null })} />
          )}
          {kind === 'oncall' && (
            <TeamPicker
              label="Team"
              placeholder="All teams"
              value={teamId}
              onChange={(chosen) => change({ teamId: chosen })}
            />
          )}
          <DashboardPicker
            label="Leads to"
            placeholder="No other dashboard"
            clearLabel="No other dashboard"
            value={leadsTo}
            onChange={(chosen) => change({ leadsTo: chosen })}
          />
          <SubmitButtons label={widget === null ? 'Add' : 'Apply'} isPending={false} draft={draft} onCancel={onClose} />
        </Stack>
      </Form>
    </Dialog>
  );
}

interface MetricFieldProps {
  /** Id of the service; null until one is chosen. */
  readonly serviceId: string | null;
  readonly value: string;
  readonly error: string | null;
  /** Called with the metric, and with its usual aggregation if it was chosen from the list. */
  onChange(metricName: string, usual: Aggregation | null): void;
}

const OPTIONS = 20;

/** Field of a metric of a service: chosen from those that it sends, or written as a selector. */
function MetricField({ serviceId, value, error, onChange }: MetricFieldProps) {
  const { orgId } = useOrganization().org;
  const text = useDebounced(value.trim());
  const wanted = {
    serviceId: serviceId ?? '',
    limit: OPTIONS,
    ...(text !== '' && !text.includes('{') && { text: text.slice(0, 200) }),
  };
  const { data } = useQuery({
    queryKey: [...topicKey(orgId, 'metrics'), 'describe_metrics', 'options', wanted],
    queryFn: ({ signal }) => invoke(orgId, 'describe_metrics', wanted, signal),
    enabled: serviceId !== null,
    placeholderData: keptIfSame((key) => isOfService(key, wanted.serviceId)),
  });
  const metrics = data?.metrics ?? [];
  const hint =
    data !== undefined && data.total === 0 && data.nearest.length > 0
      ? `Did you mean ${data.nearest.join(' or ')}?`
      : null;
  return (
    <Autocomplete
      listLabel="Metrics"
      label="Metric"
      description={hint ?? 'May carry a selector: http_requests_total{status="500"}'}
      placeholder={serviceId === null ? 'Choose a service first' : 'Type a part of its name'}
      disabled={serviceId === null}
      value={value}
      error={error}
      suggestions={metrics.map(({ metricName }) => selectorOfName(metricName))}
      isSearched
      further={(data?.total ?? 0) - metrics.length}
      maxLength={4_000}
      onChange={(next) => {
        const chosen = metrics.find(({ metricName }) => selectorOfName(metricName) === next);
        onChange(next, chosen?.aggregation ?? null);
      }}
    />
  );
}
