import { Group, NumberInput, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { actionQuery, invoke, type ResultOf } from '#console/api/actions.ts';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { PolicyPicker, useOnlyPolicy } from '#console/components/forms/policy_picker.tsx';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import { SideFields } from '#console/pages/rules/metric_fields.tsx';
import { serverFaults } from '#console/pages/rules/rule_values.ts';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';
import { OBJECTIVE_DAYS } from '#modules/rules/decide/rule_settings.ts';
import { conditionText } from '#modules/rules/decide/rule_kinds.ts';

const SETTLED_MS = 400;

interface Values {
  readonly name: string;
  readonly serviceId: string | null;
  readonly badMetric: string;
  readonly totalMetric: string;
  readonly objectivePercent: number | string;
  readonly days: number | string;
  readonly trafficAtLeast: number | string;
  readonly escalationPolicyId: string | null;
}

const LABELS: Readonly<Record<keyof Values, string>> = {
  name: 'Name',
  serviceId: 'Service',
  badMetric: 'Requests that failed',
  totalMetric: 'All requests',
  objectivePercent: 'Should go well',
  days: 'Within',
  trafficAtLeast: 'Only with at least so many requests',
  escalationPolicyId: 'Pages by',
};

const EMPTY: Values = {
  name: '',
  serviceId: null,
  badMetric: '',
  totalMetric: '',
  objectivePercent: 99.9,
  days: 30,
  trafficAtLeast: '',
  escalationPolicyId: null,
};

/** Form of an objective, which makes two burn-rate rules and shows how much of its budget is left. */
export function ObjectiveDialog({ onClose }: { readonly onClose: () => void }) {
  const { orgId } = useOrganization().org;
  const refresh = useRefresh();
  const [values, setValues, draft] = useDraftState<Values>({
    form: 'create_objective',
    base: { ...EMPTY, escalationPolicyId: useOnlyPolicy() },
  });
  const set = (change: Partial<Values>): void => setValues({ ...values, ...change });
  const input = inputOf(values);
  const [settled] = useDebouncedValue(input, SETTLED_MS);
  const preview = useQuery({
    ...actionQuery(orgId, 'rules', 'preview_objective', settled ?? NOTHING),
    enabled: settled !== null,
    placeholderData: keepPreviousData,
    retry: false,
  });
  const creating = useMutation({
    mutationFn: () => {
      const { name, escalationPolicyId } = values;
      return invoke(orgId, 'create_objective', { ...(input ?? NOTHING), name: name.trim(), escalationPolicyId });
    },
    onSuccess: async () => {
      draft.done();
      await refresh('rules');
      showSuccess('Two rules are created.');
      onClose();
    },
  });
  const [isSent, setIsSent] = useState(false);
  const faults = {
    ...(settled !== null && serverFaults(preview.error)),
    ...serverFaults(creating.error),
    ...(isSent && missingIn(values)),
  };
  return (
    <FormDialog
      title="New objective"
      isWide
      onClose={onClose}
      saving={creating}
      failure="The objective was not created"
      atFields={EMPTY}
      draft={draft}
      labels={LABELS}
      show={shown}
      submit="Create two rules"
      gap="sm"
      onSubmit={() => {
        setIsSent(true);
        if (input !== null && values.name.trim() !== '' && !creating.isPending) creating.mutate();
      }}
    >
      <Text size="sm">
        An objective says which share of requests should go well, so that the rest is a budget for failures. A first
        rule pages when an hour burns a fiftieth of the budget, a second one when six hours burn a twentieth. Each also
        looks at a shorter window, so that it ends soon after the failures do. Of a histogram, its observations are
        counted; how long they take is watched by a rule of one of its quantiles.
      </Text>
      <TextInput
        label={LABELS.name}
        placeholder="Checkout"
        value={values.name}
        onChange={(event) => set({ name: event.currentTarget.value })}
        error={faults['name']}
        maxLength={150}
      />
      <ServicePicker
        label={LABELS.serviceId}
        placeholder="Which service it watches"
        value={values.serviceId ?? undefined}
        onChange={(serviceId) => set({ serviceId: serviceId ?? null })}
        error={faults['serviceId']}
      />
      <SideFields
        serviceId={values.serviceId}
        label={LABELS.badMetric}
        text={values.badMetric}
        ofHistogram="count"
        onChange={(badMetric) => set({ badMetric })}
        error={faults['badMetric']}
      />
      <SideFields
        serviceId={values.serviceId}
        label={LABELS.totalMetric}
        text={values.totalMetric}
        ofHistogram="count"
        onChange={(totalMetric) => set({ totalMetric })}
        error={faults['totalMetric']}
      />
      <Group grow align="start">
        <NumberInput
          label={LABELS.objectivePercent}
          suffix="%"
          value={values.objectivePercent}
          onChange={(objectivePercent) => set({ objectivePercent })}
          clampBehavior="none"
          error={faults['objectivePercent']}
        />
        <NumberInput
          label={LABELS.days}
          suffix=" days"
          value={values.days}
          onChange={(days) => set({ days })}
          min={OBJECTIVE_DAYS.min}
          max={OBJECTIVE_DAYS.max}
          clampBehavior="none"
          allowDecimal={false}
          error={faults['days']}
        />
        <NumberInput
          label={LABELS.trafficAtLeast}
          placeholder="any"
          value={values.trafficAtLeast}
          onChange={(trafficAtLeast) => set({ trafficAtLeast })}
          min={0}
          clampBehavior="none"
          error={faults['trafficAtLeast']}
        />
      </Group>
      <PolicyPicker
        label={LABELS.escalationPolicyId}
        placeholder="Nobody is paged"
        clearLabel="Page nobody"
        value={values.escalationPolicyId}
        onChange={(escalationPolicyId) => set({ escalationPolicyId })}
        error={faults['escalationPolicyId']}
      />
      {settled !== null && preview.data !== undefined && preview.error === null && <Preview {...preview.data} />}
    </FormDialog>
  );
}

/** Formats a value of the form for people. */
function shown(_: keyof Values, value: unknown): string {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value : 'none';
}

type Shown = ResultOf<'preview_objective'>;

function Preview({ rules, budget }: Shown) {
  return (
    <section aria-label="What it makes">
      <Text fw={600}>
        {budget === null
          ? 'No requests have arrived in these days yet.'
          : `${budget.goodPercent.toFixed(3)}% went well: ${budget.leftPercent.toFixed(1)}% of the budget is left.`}
      </Text>
      {rules.map(({ title, burnRate, config }) => (
        <Text size="sm" key={title}>
          {burnRate} times too fast: {conditionText({ kind: 'metric_threshold', config })}
        </Text>
      ))}
    </section>
  );
}

/** Input that is never sent. */
const NOTHING = {
  serviceId: '',
  badMetric: '',
  totalMetric: '',
  objectivePercent: 99.9,
  days: 30,
  trafficAtLeast: null,
};

function inputOf({ serviceId, badMetric, totalMetric, objectivePercent, days, trafficAtLeast }: Values) {
  if (serviceId === null || badMetric.trim() === '' || totalMetric.trim() === '') return null;
  if (typeof objectivePercent !== 'number' || typeof days !== 'number') return null;
  const least = typeof trafficAtLeast === 'number' ? trafficAtLeast : null;
  return { serviceId, badMetric, totalMetric, objectivePercent, days, trafficAtLeast: least };
}

function missingIn({ name, serviceId, badMetric, totalMetric }: Values): Record<string, string> {
  return {
    ...(name.trim() === '' && { name: 'An objective needs a name' }),
    ...(serviceId === null && { serviceId: 'Choose the service' }),
    ...(badMetric.trim() === '' && { badMetric: 'Choose the metric of failures' }),
    ...(totalMetric.trim() === '' && { totalMetric: 'Choose the metric of all requests' }),
  };
}
