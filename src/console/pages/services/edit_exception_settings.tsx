import { Checkbox, NativeSelect, NumberInput, Stack, Textarea } from '@mantine/core';

import type { ResultOf } from '#console/api/actions.ts';
import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import { FILTER_NAMES } from '#console/pages/services/filter_names.ts';
import { useServiceChange } from '#console/pages/services/use_service_change.ts';
import { INBOUND_FILTERS } from '#modules/exceptions/decide/inbound_filters.ts';

type SpikeChoice = 'off' | 'learnt' | 'fixed';

const SPIKE_NAMES: Readonly<Record<SpikeChoice, string>> = {
  off: 'Off',
  learnt: 'Five times what is usual',
  fixed: 'A limit of your own',
};

interface EditExceptionSettingsProps {
  readonly serviceId: string;
  readonly settings: ResultOf<'get_exception_settings'>;
  readonly onClose: () => void;
}

interface SettingValues {
  filters: string[];
  /** Patterns, one a line; `secretNames` has the same form. */
  patterns: string;
  secretNames: string;
  /** Limit; empty for none. */
  eventsPerHour: string;
  spikes: SpikeChoice;
}

const LABELS: Readonly<Record<keyof SettingValues, string>> = {
  filters: 'Leave out exceptions of',
  patterns: 'Own patterns',
  secretNames: 'Secret fields',
  eventsPerHour: 'Events an hour',
  spikes: 'Spike protection',
};

/** Dialog to edit which of the service's exceptions are left out. */
export function EditExceptionSettings({ serviceId, settings, onClose }: EditExceptionSettingsProps) {
  const { filters, patterns, secretNames, eventsPerHour, learnsSpikes } = settings;
  const { form, draft } = useDraftForm<SettingValues>({
    form: `set_exception_settings ${serviceId}`,
    base: {
      filters: [...settings.filters],
      patterns: settings.patterns.join('\n'),
      secretNames: settings.secretNames.join('\n'),
      eventsPerHour: String(settings.eventsPerHour ?? ''),
      spikes: settings.learnsSpikes ? 'learnt' : settings.eventsPerHour === null ? 'off' : 'fixed',
    },
  });
  const saving = useServiceChange('set_exception_settings', () => {
    draft.done();
    onClose();
  });
  const save = form.onSubmit((values) =>
    saving.mutate(
      {
        serviceId,
        filters: INBOUND_FILTERS.filter((name) => values.filters.includes(name)),
        patterns: linesOf(values.patterns),
        secretNames: linesOf(values.secretNames),
        eventsPerHour: values.spikes === 'fixed' && values.eventsPerHour !== '' ? Number(values.eventsPerHour) : null,
        learnsSpikes: values.spikes === 'learnt',
        basedOn: { filters, patterns, secretNames, eventsPerHour, learnsSpikes },
      },
      { onError: (error) => form.setErrors(faultsAtFields(error, values)) },
    ),
  );
  return (
    <FormDialog
      title="Noise and secrets"
      onClose={onClose}
      saving={saving}
      atFields={form.values}
      draft={draft}
      labels={LABELS}
      show={shown}
      submit="Save"
      failure="Nothing was saved"
      onSubmit={save}
    >
      <Checkbox.Group {...form.getInputProps('filters')} label={LABELS.filters}>
        <Stack gap="xs" mt="xs">
          {INBOUND_FILTERS.map((name) => (
            <Checkbox
              key={name}
              value={name}
              label={FILTER_NAMES[name]}
              aria-invalid={form.errors['filters'] === undefined ? undefined : true}
            />
          ))}
        </Stack>
      </Checkbox.Group>
      <Textarea
        {...form.getInputProps('patterns')}
        label={LABELS.patterns}
        description="One per line. Exceptions whose message, or “Type: value”, matches are left out; * stands for anything."
        placeholder="*ResizeObserver loop*"
        autosize
        minRows={2}
        maxRows={8}
      />
      <NativeSelect
        {...form.getInputProps('spikes')}
        label={LABELS.spikes}
        description="Beyond the limit only exceptions that are new or have come back are kept; what is left out is counted."
        data={Object.entries(SPIKE_NAMES).map(([value, label]) => ({ value, label }))}
      />
      {form.values.spikes === 'fixed' && (
        <NumberInput
          {...form.getInputProps('eventsPerHour')}
          onChange={(value) => form.setFieldValue('eventsPerHour', String(value))}
          label={LABELS.eventsPerHour}
          min={1}
          max={1_000_000_000}
          allowDecimal={false}
          thousandSeparator=","
        />
      )}
      <Textarea
        {...form.getInputProps('secretNames')}
        label={LABELS.secretNames}
        description="One name per line. The values of these fields are removed everywhere, in addition to passwords, tokens and the like."
        placeholder="iban"
        autosize
        minRows={2}
        maxRows={8}
      />
    </FormDialog>
  );
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Formats a value of the form for people, to show two versions of it side by side. */
function shown(field: keyof SettingValues, value: unknown): string {
  const text = Array.isArray(value)
    ? INBOUND_FILTERS.flatMap((name) => (value.includes(name) ? [FILTER_NAMES[name]] : [])).join(', ')
    : field === 'spikes'
      ? (Object.entries(SPIKE_NAMES).find(([choice]) => choice === value)?.[1] ?? '')
      : String(value).split('\n').join(', ');
  return text === '' ? 'none' : text;
}
