import { NativeSelect, SegmentedControl, Skeleton, Text, TextInput, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { ErrorAlert } from '#console/components/error_alert.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { named } from '#console/components/text/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import { alertBodiesQuery } from '#console/pages/alert_sources/alert_secrets.ts';
import classes from '#console/pages/alert_sources/alert_sources.module.css';
import {
  type BodyField,
  draftOfMapping,
  faultsOfMapping,
  fieldsOfBody,
  MAPPED_PARTS,
  type MappedPart,
  mappingOfDraft,
  type MappingDraft,
  parsedBody,
  PART_HINTS,
  PART_NAMES,
} from '#console/pages/alert_sources/mapping_draft.ts';
import type { Source } from '#console/pages/alert_sources/route_draft.ts';
import { useServiceChange } from '#console/pages/services/use_service_change.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import {
  isWebhookTemplate,
  readMapped,
  WEBHOOK_TEMPLATES,
  type WebhookMapping,
} from '#modules/alerts/decide/mapping.ts';

const LABELS: Readonly<Record<keyof MappingDraft, string>> = {
  paths: 'Fields',
  resolved: 'It is over if the status is',
  acknowledged: 'Somebody is on it if the status is',
};

const ACTIONS = {
  trigger: 'opens or repeats an alert',
  acknowledge: 'says that somebody is on it',
  resolve: 'says that it is over',
} as const;

function templateOf(name: string): WebhookMapping {
  return WEBHOOK_TEMPLATES[isWebhookTemplate(name) ? name : 'any'];
}

/** Dialog in which a person points at the fields of a body that arrived: which is the title, which the key, and so on. */
export function EditMapping({ source, onClose }: { readonly source: Source; readonly onClose: () => void }) {
  const { orgId } = useOrganization().org;
  const before = source.settings.mapping ?? templateOf(source.name);
  const [values, setValues, draft] = useDraftState<MappingDraft>({
    form: `set_alert_source mapping ${source.sourceId}`,
    base: draftOfMapping(before),
  });
  const [part, setPart] = useState<MappedPart>('title');
  const [isSent, setIsSent] = useState(false);
  const bodies = useQuery(alertBodiesQuery(orgId, source.sourceId));
  const body = bodies.data?.bodies.find((candidate) => parsedBody(candidate.body) !== null)?.body ?? '{}';
  const saving = useServiceChange('set_alert_source', () => {
    showSuccess(named`The mapping of ${source.tool} is saved.`);
    draft.done();
    onClose();
  });
  const mapping = mappingOfDraft(values, before);
  const mappingFaults = faultsOfMapping(values);
  const faults = isSent ? mappingFaults : {};
  const setPath = (path: string) => setValues({ ...values, paths: { ...values.paths, [part]: path } });
  const save = (wanted: WebhookMapping | null) =>
    saving.mutate({ ...source.settings, sourceId: source.sourceId, mapping: wanted, basedOn: source.settings });
  return (
    <FormDialog
      title={`Mapping of ${source.tool}`}
      onClose={onClose}
      size="48rem"
      saving={saving}
      failure="The mapping was not saved"
      draft={draft}
      labels={LABELS}
      submit="Save"
      gap="sm"
      onSubmit={() => {
        setIsSent(true);
        if (Object.keys(mappingFaults).length === 0 && draft.conflicts.length === 0 && !saving.isPending) save(mapping);
      }}
    >
      <NativeSelect
        label="Begin with the template of"
        value=""
        onChange={(event) => {
          const name = event.currentTarget.value;
          if (name !== '') setValues(draftOfMapping(templateOf(name)));
        }}
        data={[
          { value: '', label: source.settings.mapping === null ? 'the template in use' : 'your own mapping in use' },
          ...Object.keys(WEBHOOK_TEMPLATES).map((name) => ({ value: name, label: name })),
        ]}
      />
      <div className={classes.parts}>
        <SegmentedControl
          aria-label="Part of the alert"
          value={part}
          onChange={(chosen) => setPart(MAPPED_PARTS.find((name) => name === chosen) ?? 'title')}
          data={MAPPED_PARTS.map((value) => ({ value, label: PART_NAMES[value] }))}
        />
      </div>
      <TextInput
        label={`Field of the ${PART_NAMES[part].toLowerCase()}`}
        description={`${PART_HINTS[part]} Choose a field below, or write its path; of several with | between them the first that holds something counts.`}
        value={values.paths[part]}
        onChange={(event) => setPath(event.currentTarget.value)}
        error={part === 'title' || part === 'key' ? faults['title'] : undefined}
        spellCheck={false}
        autoCapitalize="none"
      />
      {part === 'status' && (
        <>
          <TextInput
            label={LABELS.resolved}
            description="Words with commas between them; capitals do not matter. Any other word means that the problem is there."
            placeholder="resolved, ok"
            value={values.resolved}
            onChange={(event) => setValues({ ...values, resolved: event.currentTarget.value })}
            error={faults['resolved']}
          />
          <TextInput
            label={LABELS.acknowledged}
            placeholder="acknowledged"
            value={values.acknowledged}
            onChange={(event) => setValues({ ...values, acknowledged: event.currentTarget.value })}
          />
        </>
      )}
      {bodies.error !== null && <ErrorAlert error={bodies.error} onRetry={() => void bodies.refetch()} />}
      {bodies.data === undefined && bodies.error === null && <Skeleton height={160} />}
      {bodies.data !== undefined && (
        <Fields fields={fieldsOfBody(body)} paths={values.paths} part={part} onPick={setPath} />
      )}
      <Preview body={body} mapping={mapping} />
      {part !== 'title' && part !== 'key' && faults['title'] !== undefined && (
        <p className={classes.refusal} role="alert">
          {faults['title']}
        </p>
      )}
      {part !== 'status' && faults['resolved'] !== undefined && (
        <p className={classes.refusal} role="alert">
          {faults['resolved']}
        </p>
      )}
    </FormDialog>
  );
}

interface FieldsProps {
  readonly fields: readonly BodyField[];
  readonly paths: MappingDraft['paths'];
  readonly part: MappedPart;
  onPick(path: string): void;
}

/** Fields of the last body, each a button that makes it the chosen part. */
function Fields({ fields, paths, part, onPick }: FieldsProps) {
  if (fields.length === 0) {
    return (
      <Text size="sm" c="dimmed">
        No body is kept to point at. Send one, and open this again.
      </Text>
    );
  }
  return (
    <ul className={`${classes.fields} plain-list`} aria-label="Fields of the last body">
      {fields.map(({ path, value }) => {
        const uses = MAPPED_PARTS.filter((use) => paths[use].split('|').includes(path));
        return (
          <li key={path}>
            <UnstyledButton
              className={classes.field}
              data-chosen={uses.includes(part) || undefined}
              aria-pressed={uses.includes(part)}
              onClick={() => onPick(path)}
            >
              <bdi className="mono">{path}</bdi>
              <bdi className="ellipsis dimmed">{value}</bdi>
              <span className={classes.uses}>{uses.map((use) => PART_NAMES[use]).join(', ')}</span>
            </UnstyledButton>
          </li>
        );
      })}
    </ul>
  );
}

/** Outcome of the mapping of the last body. */
function Preview({ body, mapping }: { readonly body: string; readonly mapping: WebhookMapping }) {
  const { action, title, key, severity, link } = readMapped(parsedBody(body) ?? {}, mapping);
  const facts: readonly (readonly [string, string | null])[] = [
    ['Title', title ?? key],
    ['Key', key ?? title],
    ['Severity', severity],
    ['Link', link],
  ];
  return (
    <section aria-label="What this makes of the last body" className={classes.preview} role="status">
      <b>{action === null ? 'The last body says nothing of an alert' : `The last body ${ACTIONS[action]}`}</b>
      <dl>
        {facts.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{text === null ? 'none' : <bdi>{text}</bdi>}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
