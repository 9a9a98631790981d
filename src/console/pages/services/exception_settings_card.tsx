import { Button, Checkbox, NumberInput, Stack, Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import type { ResultOf, ServiceWithKeys } from '#console/api/actions.ts';
import { actionQuery } from '#console/api/queries.ts';
import { Card, Row } from '#console/components/card.tsx';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { SubmitButtons } from '#console/components/submit_buttons.tsx';
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
    ...actionQuery(org.orgId, 'services', 'get_exception_settings', { serviceId }),
    enabled: isEnabled,
  });
  if (!isEnabled || data === undefined) return null;
  const { filters, patterns, secretNames, eventsPerHour } = data;
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
          <Row
            title="Spike protection"
            sub={
              eventsPerHour === null
                ? 'Off: however many come, all are kept.'
                : `Keeps ${countText(eventsPerHour, 'event')} an hour; beyond it only exceptions that are new or have come back.`
            }
          />
          <Row
            title="Secret fields"
            sub={`Passwords, tokens, cookies and card numbers${secretNames.length === 0 ? '.' : `, ${secretNames.join(', ')}.`}`}
          />
        </>
      }
    />
  );
}

interface EditSettingsProps {
  readonly serviceId: string;
  readonly settings: Settings;
  onClose(): void;
}

function EditSettings({ serviceId, settings, onClose }: EditSettingsProps) {
  const [filters, setFilters] = useState<string[]>([...settings.filters]);
  const [patterns, setPatterns] = useState(settings.patterns.join('\n'));
  const [names, setNames] = useState(settings.secretNames.join('\n'));
  const [limit, setLimit] = useState<number | string>(settings.eventsPerHour ?? '');
  const saving = useServiceChange('set_exception_settings', onClose);
  const save = (event: React.FormEvent): void => {
    event.preventDefault();
    saving.mutate({
      serviceId,
      filters: INBOUND_FILTERS.filter((name) => filters.includes(name)),
      patterns: linesOf(patterns),
      secretNames: linesOf(names),
      eventsPerHour: typeof limit === 'number' ? limit : null,
    });
  };
  return (
    <Dialog title="Noise and secrets" onClose={onClose}>
      <form onSubmit={save}>
        <Stack>
          <Checkbox.Group label="Leave out exceptions of" value={filters} onChange={setFilters}>
            <Stack gap="xs" mt="xs">
              {INBOUND_FILTERS.map((name) => (
                <Checkbox key={name} value={name} label={FILTER_NAMES[name]} />
              ))}
            </Stack>
          </Checkbox.Group>
          <Textarea
            label="Own patterns"
            description="One a line. An exception whose message, or Type: value, is like it is left out; * stands for anything."
            placeholder="*ResizeObserver loop*"
            autosize
            minRows={2}
            maxRows={8}
            value={patterns}
            onChange={(event) => setPatterns(event.currentTarget.value)}
          />
          <NumberInput
            label="Events an hour"
            description="Beyond it only exceptions that are new or have come back are kept. Empty for no limit."
            min={1}
            max={1_000_000_000}
            allowDecimal={false}
            thousandSeparator=","
            value={limit}
            onChange={setLimit}
          />
          <Textarea
            label="Secret fields"
            description="One name a line. Their values are left out wherever they stand, besides passwords, tokens and the like."
            placeholder="iban"
            autosize
            minRows={2}
            maxRows={8}
            value={names}
            onChange={(event) => setNames(event.currentTarget.value)}
          />
          {saving.error !== null && <ErrorAlert error={saving.error} />}
          <SubmitButtons label="Save" isPending={saving.isPending} onCancel={onClose} />
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
