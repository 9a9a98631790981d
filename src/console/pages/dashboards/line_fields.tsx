import { Button, Group, NativeSelect, Stack } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';

import { Autocomplete } from '#console/components/forms/autocomplete.tsx';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
import { ExpressionFields, useIsQuantile, useKnownLabels } from '#console/pages/rules/metric_fields.tsx';
import { type WidgetKind, type WidgetQuery, withVariables } from '#modules/dashboards/decide/widget.ts';
import { AGGREGATION_NAMES, askedOf, SHOWN_AGGREGATIONS, shownOf } from '#modules/metrics/decide/aggregation.ts';

interface LineFieldsProps {
  /** Name of the line; null for the only one. */
  readonly legend: string | null;
  readonly kind: WidgetKind;
  readonly query: WidgetQuery;
  /** Service of a query that names none. */
  readonly usualServiceId: string | null;
  readonly serviceChoice: string;
  readonly error: string | undefined;
  onChange(part: Partial<WidgetQuery>): void;
  /** Called to remove the line; null for the only one. */
  readonly onRemove: (() => void) | null;
}

/** Fields of one query of a widget. */
export function LineFields({ legend, kind, query, usualServiceId, error, onChange, ...rest }: LineFieldsProps) {
  const { serviceChoice, onRemove } = rest;
  const serviceId = query.serviceId ?? usualServiceId;
  const isQuantile = useIsQuantile(serviceId, query.metricName);
  const labels = useKnownLabels(serviceId, withVariables(query.metricName, {}));
  return (
    <Stack gap="xs" component="fieldset" p={0} m={0} style={{ border: 0 }}>
      <legend className={legend === null ? 'hidden-text' : undefined}>{legend ?? 'Line 1'}</legend>
      <ServicePicker
        label="Service"
        before={serviceChoice}
        value={query.serviceId ?? undefined}
        onChange={(next) => onChange({ serviceId: next ?? null })}
      />
      <ExpressionFields
        serviceId={serviceId}
        text={query.metricName}
        hasVariables
        hasQuantiles={kind !== 'heatmap'}
        onChange={(metricName, chosen) => {
          const { aggregation: usual } = chosen ?? {};
          onChange({ metricName, ...(usual !== undefined && { aggregation: usual, isRate: usual === 'sum' }) });
        }}
        error={error}
      />
      {kind !== 'heatmap' && (
        <Group grow align="end">
          {!isQuantile && (
            <NativeSelect
              label="Aggregation"
              value={shownOf(query.aggregation, query.isRate)}
              data={SHOWN_AGGREGATIONS.map((value) => ({ value, label: AGGREGATION_NAMES[value] }))}
              onChange={(event) =>
                onChange(askedOf(SHOWN_AGGREGATIONS.find((shown) => shown === event.currentTarget.value) ?? 'avg'))
              }
            />
          )}
          {kind !== 'number' && (
            <Autocomplete
              listLabel="Labels"
              label="Split by label"
              placeholder="Nothing"
              value={query.splitBy ?? ''}
              suggestions={[...labels.keys()]}
              maxLength={200}
              onChange={(next) => onChange({ splitBy: next.trim() || null })}
            />
          )}
        </Group>
      )}
      {onRemove !== null && (
        <Group>
          <Button variant="default" leftSection={<IconTrash size={16} />} onClick={onRemove}>
            Remove line
          </Button>
        </Group>
      )}
    </Stack>
  );
}
