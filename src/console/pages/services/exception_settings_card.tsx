import { Button, Checkbox, NativeSelect, NumberInput, Stack, Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import type { ResultOf, ServiceWithKeys } from '#console/api/actions.ts';
import { exceptionSettingsQuery } from '#console/api/services.ts';
import { Card, Row } from '#console/components/card.tsx';
import { Dialog } from '#console/components/dialog.tsx';
import { DraftNotice } from '#console/components/draft_notice.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { faultsAtFields } from '#console/components/field_faults.ts';
import { SubmitButtons } from '#console/components/submit_buttons.tsx';
import { useDraftForm } from '#console/components/use_draft.ts';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { useServiceChange } from '#console/pages/services/use_service_change.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { INBOUND_FILTERS, type InboundFilter } from '#core/exceptions/inbound_filters.ts';

type Settings = ResultOf<'get_exception_settings'>;

const FILTER_NAMES: Readonly<Record<InboundFilter, string>> = {
  bots: 'Robots and crawlers',
  browser_extensions: 'Browser extensions',
  legacy_browsers: 'Browsers that nobody maintains any more',
};

/** What is left out of the service's exceptions. */
export function ExceptionSettingsCard({ service: { serviceId, capabilities } }: { readonly service: ServiceWithKeys }) {
  const { org, may } = useOrganization();
  const [isEditing, setIsEditing] = useState(false);
  const isEnabled = capabilities.includes('exceptions');
  const { data } = useQuery({
    ...exceptionSettingsQuery(org.orgId, serviceId),
    enabled: isEnabled,
  });
  if (!isEnabled || data === undefined) return null;
  const { filters, patterns, secretNames } = data;
  return (
    <Card
      title="Noise and secrets"
      about="What is left out of the exceptions of this service. How many were left out stands under Incoming data."
      action={
        may('services:edit') && (
          <>
            <Button size="xs" variant="default" onClick={() => setIsEditing(true)} aria-label="Edit noise and secrets">
              Edit
            </Button>
            {isEditing && <EditSettings serviceId={serviceId} settings={data} onClose={() => setIsEditing(false)} />}
          </>
        )
      }
      rows={
        <>
          <Row
            title="Filters"
            sub={
              filters.length === 0 ? 'None: everything is kept.' : filters.map((name) => FILTER_NAMES[name]).join(', ')
            }
          />
          <Row title="Own patterns" sub={patterns.length === 0 ? 'None.' : patterns.join(' · ')} />
          <Row title="Spike protection" sub={spikeText(data)} />
          <Row
            title="Secret fields"
            sub={`Passwords, tokens, cookies and card numbers${secretNames.length === 0 ? '.' : `, ${secretNames.join(', ')}.`}`}
          />
        </>
      }
    />
  );
}

function spikeText({ eventsPerHour, learnsSpikes, learntPerHour }: Settings): string {
  const beyond = 'an hour; beyond it only exceptions that are new or have come back.';
  if (!learnsSpikes) {
    return eventsPerHour === null
      ? 'Off: however many come, all are kept.'
      : `Keeps ${countText(eventsPerHour, 'event')} ${beyond}`;
  }
  return learntPerHour === null
    ? 'Learns what is usual: until a day of traffic is known, all are kept.'
    : `Learnt from usual traffic: keeps ${countText(learntPerHour, 'event')} ${beyond}`;
}

type SpikeChoice = 'off' | 'learnt' | 'fixed';

const SPIKE_NAMES: Readonly<Record<SpikeChoice, string>> = {
  off: 'Off',
  learnt: 'Five times what is usual',
  fixed: 'A limit of your own',
};

interface EditSettingsProps {
  readonly serviceId: string;
  readonly settings: Settings;
  onClose(): void;
}

interface SettingValues {
  filters: string[];
  /** One a line, as the next. */
  patterns: string;
  secretNames: string;
  /** Empty for no limit. */
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

function EditSettings({ serviceId, settings, onClose }: EditSettingsProps) {
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
      },
      { onError: (error) => form.setErrors(faultsAtFields(error, values)) },
    ),
  );
  return (
    <Dialog title="Noise and secrets" onClose={onClose}>
      <form onSubmit={save} noValidate>
        <Stack>
          <DraftNotice draft={draft} labels={LABELS} />
          <Checkbox.Group {...form.getInputProps('filters')} label={LABELS.filters}>
            <Stack gap="xs" mt="xs">
              {INBOUND_FILTERS.map((name) => (
                <Checkbox key={name} value={name} label={FILTER_NAMES[name]} />
              ))}
            </Stack>
          </Checkbox.Group>
          <Textarea
            {...form.getInputProps('patterns')}
            label={LABELS.patterns}
            description="One a line. An exception whose message, or Type: value, is like it is left out; * stands for anything."
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
            description="One name a line. Their values are left out wherever they stand, besides passwords, tokens and the like."
            placeholder="iban"
            autosize
            minRows={2}
            maxRows={8}
          />
          {saving.error !== null && <ErrorAlert error={saving.error} />}
          <SubmitButtons
            label="Save"
            isPending={saving.isPending}
            isDisabled={draft.conflicts.length > 0}
            onCancel={() => {
              draft.startOver();
              onClose();
            }}
          />
        </Stack>
      </form>
    </Dialog>
  );
}

function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
