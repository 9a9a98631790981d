import { Checkbox, NativeSelect, SimpleGrid, Stack, Text, Textarea, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';

import { type IncidentWithLog, invoke, type ResultOf } from '#console/api/actions.ts';
import { topicKey } from '#console/api/queries.ts';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { faultsAtFields } from '#console/components/forms/field_faults.ts';
import { Form } from '#console/components/forms/form.tsx';
import { SubmitButtons } from '#console/components/forms/submit_buttons.tsx';
import { useDraftForm } from '#console/components/forms/use_draft.ts';
import { showSuccess } from '#console/components/notice.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import {
  type Impact,
  IMPACT_TEXTS,
  IMPACTS,
  type Stage,
  STAGE_TEXTS,
  STAGES,
} from '#modules/status_pages/decide/publication.ts';

type StatusPage = ResultOf<'list_status_pages'>['statusPages'][number];

/** An incident on a status page, as readers see it. */
export type Publication = ResultOf<'list_publications'>['publications'][number];

interface Values {
  readonly title: string;
  readonly stage: Stage;
  readonly impact: Impact;
  readonly serviceIds: readonly string[];
  readonly text: string;
}

const LABELS = {
  title: 'Public title',
  stage: 'Stage',
  impact: 'Impact',
  serviceIds: 'Affected services',
  text: 'Text for readers',
} as const;

interface PublishFormProps {
  readonly incident: IncidentWithLog;
  readonly page: StatusPage;
  /** Null before the incident is on the page. */
  readonly publication: Publication | null;
  readonly onClose: () => void;
}

/** Form of what readers of a page are told. Nothing is filled in from the incident but the service. */
export function PublishForm({ incident: { incidentId, serviceId }, page, publication, onClose }: PublishFormProps) {
  const { org } = useOrganization();
  const queryClient = useQueryClient();
  const services = page.groups.flatMap((group) => group.services);
  const isOnPage = services.some((service) => service.serviceId === serviceId);
  const base = useMemo(
    (): Values => ({
      title: publication?.title ?? '',
      stage: publication?.updates[0]?.stage ?? 'investigating',
      impact: publication?.impact ?? 'degraded',
      serviceIds: publication?.serviceIds ?? (isOnPage ? [serviceId] : []),
      text: '',
    }),
    [publication, isOnPage, serviceId],
  );
  const { form, draft } = useDraftForm<Values>({
    form: `publish ${page.statusPageId} ${incidentId}`,
    base,
    validate: {
      title: (value) => (value.trim() === '' ? 'Say in a sentence what readers notice' : null),
      text: (value) => (value.trim() === '' ? 'Tell readers what is wrong and what you do' : null),
    },
  });
  const publishing = useMutation({
    async mutationFn({ title, text, serviceIds, stage, impact }: Values) {
      const what = { title: title.trim(), text: text.trim(), serviceIds: [...serviceIds], stage, impact };
      return publication === null
        ? await invoke(org.orgId, 'publish_incident', { statusPageId: page.statusPageId, incidentId, ...what })
        : await invoke(org.orgId, 'add_status_update', { publicationId: publication.publicationId, ...what });
    },
    async onSuccess() {
      draft.done();
      showSuccess('Readers see it within ten seconds.');
      onClose();
      await queryClient.invalidateQueries({ queryKey: topicKey(org.orgId, 'settings') });
    },
    onError: (error, values) => form.setErrors(faultsAtFields(error, values)),
  });
  return (
    <Form error={publishing.error} onSubmit={form.onSubmit((values) => publishing.mutate(values))}>
      <Stack>
        <DraftNotice draft={draft} labels={LABELS} />
        <TextInput label={LABELS.title} maxLength={200} {...form.getInputProps('title')} data-autofocus />
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
          <NativeSelect
            label={LABELS.stage}
            data={STAGES.map((value) => ({ value, label: STAGE_TEXTS[value] }))}
            {...form.getInputProps('stage')}
          />
          <NativeSelect
            label={LABELS.impact}
            data={IMPACTS.map((value) => ({ value, label: IMPACT_TEXTS[value] }))}
            {...form.getInputProps('impact')}
          />
        </SimpleGrid>
        {services.length > 0 && (
          <Checkbox.Group
            label={LABELS.serviceIds}
            value={[...form.values.serviceIds]}
            onChange={(serviceIds) => form.setFieldValue('serviceIds', serviceIds)}
          >
            <Stack gap="xs" mt="xs">
              {services.map((service) => (
                <Checkbox key={service.serviceId} value={service.serviceId} label={isolateBidi(service.name)} />
              ))}
            </Stack>
          </Checkbox.Group>
        )}
        <Textarea label={LABELS.text} autosize minRows={3} maxLength={4_000} {...form.getInputProps('text')} />
        <Text size="sm" c="dimmed">
          {page.isPublic ? 'Everybody' : 'Every member'} can read this, and subscribers get it by mail. Nothing else of
          the incident is shown.
        </Text>
        {publishing.isError && (
          <ErrorAlert title="Nothing was published" error={publishing.error} atFields={form.values} />
        )}
        <SubmitButtons
          label={publication === null ? 'Publish' : 'Publish the update'}
          isPending={publishing.isPending}
          isDisabled={draft.conflicts.length > 0}
          onCancel={onClose}
        />
      </Stack>
    </Form>
  );
}
