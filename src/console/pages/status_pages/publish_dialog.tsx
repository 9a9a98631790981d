import {
  Button,
  Checkbox,
  Group,
  NativeSelect,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';

import { actionQuery, type IncidentWithLog, invoke, type ResultOf } from '#console/api/actions.ts';
import { isApiError } from '#console/api/http.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Confirm } from '#console/components/forms/confirm.tsx';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { faultsAtFields, Form, SubmitButtons } from '#console/components/forms/form.tsx';
import { useDraftForm } from '#console/components/forms/use_draft_form.ts';
import { showSuccess } from '#console/components/notice.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { Name, named } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { useOrganization, useRefresh } from '#console/shell/organization.tsx';
import { PAGES, SETTINGS_PAGES } from '#modules/pages/decide/pages.ts';
import {
  type Impact,
  IMPACT_TEXTS,
  IMPACTS,
  type Stage,
  STAGE_TEXTS,
  STAGES,
} from '#modules/status_pages/decide/publication.ts';

interface PublishDialogProps {
  readonly incident: IncidentWithLog;
  readonly onClose: () => void;
}

/** Dialog that publishes an incident on a status page, and tells its readers how it goes on. */
export function PublishDialog({ incident, onClose }: PublishDialogProps) {
  const { org } = useOrganization();
  const { incidentId, number } = incident;
  const pages = useQuery(actionQuery(org.orgId, 'settings', 'list_status_pages', {}));
  const published = useQuery(actionQuery(org.orgId, 'settings', 'list_publications', { incidentId }));
  const [chosenId, setChosenId] = useState<string | null>(null);
  const error = pages.error ?? published.error;
  const list = pages.data?.statusPages;
  const publications = published.data?.publications;
  const page = list?.find(({ statusPageId }) => statusPageId === chosenId) ?? list?.[0];
  const publication = publications?.find(({ statusPageId }) => statusPageId === page?.statusPageId) ?? null;
  return (
    <Dialog onClose={onClose} title={`Publish #${number}`} isWide>
      <Stack>
        {error !== null && (
          <ErrorAlert
            error={error}
            onRetry={() => {
              void pages.refetch();
              void published.refetch();
            }}
          />
        )}
        {error === null && (list === undefined || publications === undefined) && <Skeleton height={240} radius="lg" />}
        {list?.length === 0 && (
          <Text>
            There is no status page yet. Owners and admins add one under{' '}
            <Link to={`${PAGES.settings}${SETTINGS_PAGES.statusPages}`}>Status pages</Link>.
          </Text>
        )}
        {list !== undefined && publications !== undefined && page !== undefined && (
          <>
            {list.length > 1 && (
              <NativeSelect
                label="Status page"
                data={list.map(({ statusPageId, title }) => ({ value: statusPageId, label: isolateBidi(title) }))}
                value={page.statusPageId}
                onChange={(event) => setChosenId(event.currentTarget.value)}
              />
            )}
            {publication !== null && <Published publication={publication} />}
            <PublishForm
              key={page.statusPageId}
              incident={incident}
              page={page}
              publication={publication}
              onClose={onClose}
            />
          </>
        )}
      </Stack>
    </Dialog>
  );
}

/** Shows what readers see of an incident, and takes it off the page. */
function Published({ publication }: { readonly publication: Publication }) {
  const { org } = useOrganization();
  const refresh = useRefresh();
  const { publicationId, title, updates } = publication;
  const [isAsked, setIsAsked] = useState(false);
  const retracting = useMutation({
    mutationFn: () => invoke(org.orgId, 'retract_publication', { publicationId }),
    async onSuccess() {
      setIsAsked(false);
      showSuccess('It is on the page no more.');
      await refresh('settings');
    },
  });
  return (
    <Stack gap="xs">
      <Text fw={600}>
        <Name>{title}</Name>
      </Text>
      {updates.map(({ stage, text, at }) => (
        <div key={at}>
          <Text size="sm" c="dimmed">
            {STAGE_TEXTS[stage]} · <Timestamp at={at} />
          </Text>
          <Text size="sm">{text}</Text>
        </div>
      ))}
      <Group>
        <Button variant="subtle" color="red" size="xs" onClick={() => setIsAsked(true)}>
          Retract all of it
        </Button>
      </Group>
      {isAsked && (
        <Confirm
          title={named`Retract ${title}?`}
          button="Retract"
          saving={retracting}
          onClose={() => setIsAsked(false)}
          onConfirm={() => retracting.mutate()}
        >
          It leaves the page with all its updates. What was mailed stays where it is. This cannot be undone.
        </Confirm>
      )}
    </Stack>
  );
}

type StatusPage = ResultOf<'list_status_pages'>['statusPages'][number];

/** An incident on a status page, as readers see it. */
type Publication = ResultOf<'list_publications'>['publications'][number];

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
function PublishForm({ incident: { incidentId, serviceId }, page, publication, onClose }: PublishFormProps) {
  const { org } = useOrganization();
  const refresh = useRefresh();
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
  // An update whose answer was lost is sent again as it was, so that the server adds it once.
  const unanswered = useRef<{ readonly stage: Stage; readonly text: string; readonly basedOn: number }>(null);
  const publishing = useMutation({
    async mutationFn({ title, text, serviceIds, stage, impact }: Values) {
      const what = { title: title.trim(), text: text.trim(), serviceIds: [...serviceIds], stage, impact };
      const isSame = unanswered.current?.stage === stage && unanswered.current.text === what.text;
      const basedOn = (isSame ? unanswered.current?.basedOn : publication?.updates.length) ?? 0;
      unanswered.current = { stage, text: what.text, basedOn };
      if (publication === null) {
        return await invoke(org.orgId, 'publish_incident', { statusPageId: page.statusPageId, incidentId, ...what });
      }
      const { publicationId } = publication;
      try {
        return await invoke(org.orgId, 'add_status_update', { publicationId, ...what, basedOn });
      } catch (error) {
        if (isApiError(error) && !error.isOutage) unanswered.current = null;
        throw error;
      }
    },
    async onSuccess() {
      draft.done();
      showSuccess('Readers see it within ten seconds.');
      onClose();
      await refresh('settings');
    },
    async onError(error, values) {
      form.setErrors(faultsAtFields(error, values));
      if (isApiError(error, 409)) await refresh('settings');
    },
  });
  return (
    <Form error={publishing.error} draft={draft} onSubmit={form.onSubmit((values) => publishing.mutate(values))}>
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
            error={form.errors['serviceIds']}
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
