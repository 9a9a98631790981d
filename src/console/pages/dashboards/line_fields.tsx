import { Button, Group, Stack } from '@mantine/core';

import { IconTrash } from '#console/icons.ts';
import { AggregationSelect } from '#console/pages/rules/aggregation_select.tsx';
import { divideExpression } from '#modules/metrics/decide/ratio.ts';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
import { LabelName } from '#console/pages/rules/label_fields.tsx';
import { ExpressionFields, useAskedMetric } from '#console/pages/rules/metric_fields.tsx';
import { type WidgetKind, type WidgetQuery, withVariables } from '#modules/dashboards/decide/widget.ts';
import { askedOf, shownOf, usuallyShown } from '#modules/metrics/decide/aggregation.ts';

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

export function LineFields({ legend, kind, query, usualServiceId, error, onChange, ...rest }: LineFieldsProps) {
  const { serviceChoice, onRemove } = rest;
  const serviceId = query.serviceId ?? usualServiceId;
  const { isQuantile, kind: kindOfMetric } = useAskedMetric(serviceId, query.metricName);
  const isRatio = divideExpression(query.metricName).sides.length > 1;
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
        ofHistogram={kind === 'heatmap' ? 'whole' : 'quantile'}
        onChange={(metricName, chosen) => {
          onChange({ metricName, ...(chosen !== null && { aggregation: null, isRate: false }) });
        }}
        error={error}
      />
      {kind !== 'heatmap' && (
        <Group grow align="end">
          {!isQuantile && (
            <AggregationSelect
              kind={kindOfMetric}
              hasRate={!isRatio}
              shown={
                query.aggregation === null
                  ? usuallyShown(kindOfMetric, isRatio)
                  : shownOf(query.aggregation, query.isRate)
              }
              onChange={(shown) => onChange(askedOf(shown))}
            />
          )}
          {kind !== 'number' && (
            <LabelName
              listLabel="Labels"
              label="Split by label"
              placeholder="Nothing"
              serviceId={serviceId}
              metricName={withVariables(query.metricName, {})}
              value={query.splitBy ?? ''}
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
