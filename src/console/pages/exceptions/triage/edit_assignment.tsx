import { Button, Fieldset, Group, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { actionQuery, type ResultOf } from '#console/api/actions.ts';
import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { PersonPicker } from '#console/components/forms/person_picker.tsx';
import { TeamPicker } from '#console/components/forms/team_picker.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import { useServiceChange } from '#console/pages/services/use_service_change.ts';
import { useOrganization } from '#console/shell/organization.tsx';

type Assignments = ResultOf<'get_exception_assignment'>;

interface EditAssignmentProps {
  readonly serviceId: string;
  readonly assignments: Assignments;
  readonly onClose: () => void;
}

/** A rule while it is edited: empty texts for what does not matter. */
interface RuleValues {
  readonly path: string;
  /** Tag as `key:value`. */
  readonly tag: string;
  readonly kind: 'user' | 'team';
  readonly assigneeId: string | null;
}

const EMPTY: RuleValues = { path: '', tag: '', kind: 'team', assigneeId: null };
const LABELS = {
  rules: 'Rules',
  issueLink: 'Address for new issues',
  trackerId: 'Issue tracker',
  trackerProject: 'Project there',
};

/** Dialog for the assignment rules of a service, in their order, and the address of its tracker. */
export function EditAssignment({ serviceId, assignments, onClose }: EditAssignmentProps) {
  const { assignmentRules, issueLink, trackerId, trackerProject } = assignments;
  const { orgId } = useOrganization().org;
  const { trackers } = useQuery(actionQuery(orgId, 'settings', 'list_issue_trackers', {})).data ?? { trackers: [] };
  const [values, setValues, draft] = useDraftState({
    form: `set_exception_assignment ${serviceId}`,
    base: {
      rules: assignmentRules.map(toValues),
      issueLink: issueLink ?? '',
      trackerId: trackerId ?? '',
      trackerProject: trackerProject ?? '',
    },
  });
  const [isTried, setIsTried] = useState(false);
  const saving = useServiceChange('set_exception_assignment', () => {
    draft.done();
    onClose();
  });
  const { rules } = values;
  const setRules = (next: readonly RuleValues[]): void => setValues({ ...values, rules: [...next] });
  const set = (index: number, change: Partial<RuleValues>): void =>
    setRules(rules.map((rule, at) => (at === index ? { ...rule, ...change } : rule)));
  /** Moves a rule to another position, as if it were dragged there. */
  const move = (index: number, to: number): void => {
    const next = rules.filter((_, at) => at !== index);
    const moved = rules[index];
    if (moved !== undefined) setRules([...next.slice(0, to), moved, ...next.slice(to)]);
  };
  const assigneeAt = (index: number) => `assignmentRules[${index}].assigneeId`;
  const atFields = {
    issueLink,
    trackerId,
    trackerProject,
    ...Object.fromEntries(rules.map((_rule, index) => [assigneeAt(index), ''])),
  };
  const faults = faultsAtFields(saving.error, atFields);
  const assigneeFault = (index: number) =>
    isTried && rules[index]?.assigneeId === null ? 'Choose one' : faults[assigneeAt(index)];
  const submit = (event: React.FormEvent): void => {
    event.preventDefault();
    setIsTried(true);
    if (rules.some(({ assigneeId, tag }) => assigneeId === null || !isTag(tag))) return;
    if (saving.isPending || draft.conflicts.length > 0) return;
    saving.mutate({
      serviceId,
      assignmentRules: rules.map(toRule),
      issueLink: values.issueLink.trim() === '' ? null : values.issueLink.trim(),
      trackerId: values.trackerId === '' ? null : values.trackerId,
      trackerProject: values.trackerProject.trim() === '' ? null : values.trackerProject.trim(),
      basedOn: { assignmentRules, issueLink, trackerId, trackerProject },
    });
  };
  return (
    <FormDialog
      title="Who works on new exceptions"
      onClose={onClose}
      saving={saving}
      failure="Nothing was saved"
      atFields={atFields}
      draft={draft}
      labels={LABELS}
      show={() => 'changed'}
      submit="Save"
      onSubmit={submit}
    >
      {rules.map((rule, index) => (
        // eslint-disable-next-line react/no-array-index-key -- a rule is its position
        <Fieldset key={index} legend={`Rule ${index + 1}`} p="sm">
          <Stack gap="xs">
            <TextInput
              label="A file in the stack is like"
              placeholder="any, or src/payment/*"
              maxLength={200}
              value={rule.path}
              onChange={(event) => set(index, { path: event.currentTarget.value })}
            />
            <TextInput
              label="and a tag is like"
              placeholder="any, or customer:acme*"
              maxLength={400}
              value={rule.tag}
              error={isTried && !isTag(rule.tag) ? 'Write it like customer:acme*, or leave it empty' : undefined}
              onChange={(event) => set(index, { tag: event.currentTarget.value })}
            />
            <NativeSelect
              label="Assign to"
              value={rule.kind}
              onChange={(event) =>
                set(index, { kind: event.currentTarget.value === 'user' ? 'user' : 'team', assigneeId: null })
              }
              data={[
                { value: 'team', label: 'A team' },
                { value: 'user', label: 'A person' },
              ]}
            />
            {rule.kind === 'user' ? (
              <PersonPicker
                label="Person"
                placeholder="Type part of a name"
                value={rule.assigneeId}
                onChange={(assigneeId) => set(index, { assigneeId })}
                error={assigneeFault(index)}
              />
            ) : (
              <TeamPicker
                label="Team"
                placeholder="Type part of a name"
                isRequired
                value={rule.assigneeId}
                onChange={(assigneeId) => set(index, { assigneeId })}
                error={assigneeFault(index)}
              />
            )}
            <Group gap="xs">
              {rules.length > 1 && (
                <NativeSelect
                  aria-label={`Position of rule ${index + 1}`}
                  value={String(index)}
                  onChange={(event) => move(index, Number(event.currentTarget.value))}
                  data={rules.map((_, at) => ({ value: String(at), label: `${at + 1}. of ${rules.length}` }))}
                />
              )}
              <Button variant="default" onClick={() => setRules(rules.filter((_, at) => at !== index))}>
                Remove
              </Button>
            </Group>
          </Stack>
        </Fieldset>
      ))}
      <Button variant="default" onClick={() => setRules([...rules, EMPTY])}>
        Add a rule
      </Button>
      {(trackers.length > 0 || trackerId !== null) && (
        <>
          <NativeSelect
            label={LABELS.trackerId}
            description="“Create an issue” writes there."
            value={values.trackerId}
            onChange={(event) => {
              const chosen = event.currentTarget.value;
              setValues({ ...values, trackerId: chosen, trackerProject: chosen === '' ? '' : values.trackerProject });
            }}
            error={faults['trackerId']}
            data={[
              { value: '', label: 'The first of the organization, unless there is an address below' },
              ...trackers.map((tracker) => ({
                value: tracker.trackerId,
                label: `${tracker.title}: ${tracker.project}`,
              })),
            ]}
          />
          {values.trackerId !== '' && (
            <TextInput
              label={LABELS.trackerProject}
              description="Left empty, the one that the tracker has."
              maxLength={200}
              value={values.trackerProject}
              onChange={(event) => setValues({ ...values, trackerProject: event.currentTarget.value })}
              error={faults['trackerProject']}
            />
          )}
        </>
      )}
      <TextInput
        label={LABELS.issueLink}
        description="With {title}, {type}, {culprit}, {service} and {link}, which are filled in."
        placeholder="https://github.com/acme/shop/issues/new?title={title}&body={link}"
        maxLength={2_000}
        value={values.issueLink}
        onChange={(event) => setValues({ ...values, issueLink: event.currentTarget.value })}
        error={faults['issueLink']}
      />
    </FormDialog>
  );
}

/** Whether a text is a tag, `key:value`, or empty. */
function isTag(text: string): boolean {
  return /^$|^[^:]+:.+$/.test(text.trim());
}

function toValues({ path, tag, assigneeId }: Assignments['assignmentRules'][number]): RuleValues {
  return {
    path: path ?? '',
    tag: tag === null ? '' : `${tag.key}:${tag.value}`,
    kind: assigneeId.startsWith('team_') ? 'team' : 'user',
    assigneeId,
  };
}

function toRule({ path, tag, assigneeId }: RuleValues): Assignments['assignmentRules'][number] {
  const [, key = '', value = ''] = /^([^:]+):(.+)$/.exec(tag.trim()) ?? [];
  return {
    path: path.trim() === '' ? null : path.trim(),
    tag: key === '' ? null : { key, value },
    assigneeId: assigneeId ?? '',
  };
}
