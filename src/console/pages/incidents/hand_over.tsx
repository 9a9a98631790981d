import { Button, SegmentedControl, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { actionQuery, type IncidentWithLog, invoke, type ResultOf } from '#console/api/actions.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { Choice } from '#console/components/forms/choice.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { faultsAtFields } from '#console/components/forms/form.tsx';
import { FormDialog } from '#console/components/forms/form_dialog.tsx';
import { named } from '#console/components/text/name.tsx';
import { showSuccess } from '#console/components/notice.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import { useDebounced } from '#console/components/use_debounced.ts';
import { AddNumber } from '#console/pages/oncall_teams/add_number.tsx';
import { useIncidentChange } from '#console/pages/incidents/use_incident_change.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { CHANNEL_DECLARATIONS } from '#modules/contacts/decide/channel.ts';

type Kind = 'person' | 'policy';
type Assignees = ResultOf<'list_assignees'>;

interface Assignee {
  readonly value: string;
  readonly name: string;
  readonly label: string;
  /** Channels by which the person would be paged; null for a policy. */
  readonly channels: Assignees['people'][number]['channels'] | null;
  /** Reason for which nothing reaches the person, and what to do; null if something does. */
  readonly refusal: string | null;
  /** Place in the team of the incident; null for a policy, and for who is not in the team. */
  readonly memberId: string | null;
}

interface Entered {
  readonly kind: Kind;
  readonly picked: Assignee | null;
}

/** Dialog that hands the incident over to a person or to another policy, who are paged at once. */
export function HandOver({ incident, onClose }: { readonly incident: IncidentWithLog; readonly onClose: () => void }) {
  const { org, session } = useOrganization();
  const { incidentId, status, escalation } = incident;
  const [{ kind, picked: chosen }, setValues, draft] = useDraftState<Entered>({
    form: `reassign_incident ${incidentId}`,
    base: { kind: 'person', picked: null },
  });
  const [isMissing, setIsMissing] = useState(false);
  const [isAdding, setIsAdding] = useState(false);
  const [typed, setTyped] = useState('');
  const text = useDebounced(typed.trim());
  const { data, error } = useQuery({
    ...actionQuery(org.orgId, 'teams', 'list_assignees', { incidentId, ...(text !== '' && { text }) }),
    placeholderData: keepPreviousData,
  });
  const people = data === undefined ? [] : choicesOf(data, kind, session.user.userId);
  // What was picked may have changed since, as when somebody has added their number.
  const picked = people.find(({ value }) => value === chosen?.value) ?? chosen;
  const choices = picked === null || people.some(({ value }) => value === picked.value) ? people : [picked, ...people];
  // Until the server has answered for the typed text, only names that contain it are offered.
  const offered = choices.filter(({ label }) => label.toLowerCase().includes(typed.trim().toLowerCase()));
  const reassigning = useIncidentChange('reassign_incident', incidentId);
  const choose = (value: string | null): void => {
    setValues({ kind, picked: choices.find((choice) => choice.value === value) ?? null });
    setIsMissing(false);
    reassigning.reset();
  };
  const submit = (): void => {
    if (picked === null) {
      setIsMissing(true);
      return;
    }
    const { value, name, refusal } = picked;
    if (refusal != null) return;
    const to = kind === 'person' ? { userId: value } : { policyId: value };
    const seen = { status, stepCount: escalation.stepCount };
    reassigning.mutate(
      { incidentId, to, seen },
      {
        onSuccess() {
          showSuccess(
            kind === 'person'
              ? named`Handed over to ${name}, who is paged now.`
              : named`Handed over to ${name}, whose first step fires now.`,
          );
          draft.done();
          onClose();
        },
      },
    );
  };
  const isMe = picked?.value === session.user.userId;
  const team = data?.team ?? null;
  const mayAdd = picked !== null && picked.refusal !== null && (isMe || team !== null);
  if (isAdding && mayAdd) {
    const { value: userId, name, memberId } = picked;
    // Whoever is chosen may be beyond the first people of the list.
    const readAgain = async (): Promise<void> => {
      const matches = choicesOf(
        await invoke(org.orgId, 'list_assignees', { incidentId, text: name }),
        kind,
        session.user.userId,
      );
      setValues({ kind, picked: matches.find(({ value }) => value === userId) ?? picked });
    };
    return (
      <AddNumber
        person={{ userId, name, memberId }}
        team={team}
        onSaved={readAgain}
        onClose={() => setIsAdding(false)}
      />
    );
  }
  return (
    <FormDialog
      onClose={onClose}
      title={`Hand over #${incident.number}`}
      saving={reassigning}
      failure="It was not handed over, and nobody was paged"
      atFields={{ to: picked }}
      draft={draft}
      labels={{ kind: 'Hand over to', picked: 'Who is paged' }}
      submit="Hand over and page"
      onSubmit={() => submit()}
    >
      <SegmentedControl
        aria-label="Hand over to"
        size="md"
        value={kind}
        onChange={(value) => {
          setTyped('');
          setValues({ kind: value, picked: null });
          setIsMissing(false);
          reassigning.reset();
        }}
        data={[
          { value: 'person', label: 'A person' },
          { value: 'policy', label: 'A policy' },
        ]}
      />
      {error !== null && <ErrorAlert error={error} />}
      <Choice
        label={kind === 'person' ? 'Person' : 'Escalation policy'}
        placeholder={data === undefined ? 'Loading …' : 'Type a name'}
        key={kind}
        options={offered.map(({ value, label }) => ({ value, label }))}
        value={picked?.value ?? null}
        onChange={choose}
        onSearch={setTyped}
        // Somebody who comes back from adding a number goes on with the button, not with the list over it.
        opensOnFocus={picked === null}
        further={data === undefined ? 0 : kind === 'person' ? data.furtherPeople : data.furtherPolicies}
        emptyText={data === undefined ? 'Loading …' : 'No person or policy has this name'}
        error={
          isMissing
            ? 'Choose who is paged'
            : (faultsAtFields(reassigning.error, { to: picked })['to'] ??
              (picked?.refusal == null ? undefined : `${isolateBidi(picked.refusal)}.`))
        }
        data-autofocus
      />
      {mayAdd && (
        <Button variant="default" onClick={() => setIsAdding(true)}>
          {isMe ? 'Add your number' : `Add a number for ${isolateBidi(picked.name)}`}
        </Button>
      )}
      <Text size="sm" c="dimmed">
        {kind === 'policy' ? aboutPolicy(status) : picked?.refusal == null && aboutPerson(incident, picked)}
      </Text>
    </FormDialog>
  );
}

function choicesOf({ people, policies }: Assignees, kind: Kind, ownUserId: string): Assignee[] {
  if (kind === 'policy') {
    return policies.map(({ policyId, name, teamName, stepCount }) => ({
      value: policyId,
      name,
      label: `${isolateBidi(name)} (${isolateBidi(teamName)}, ${stepCount} ${stepCount === 1 ? 'step' : 'steps'})`,
      channels: null,
      refusal: null,
      memberId: null,
    }));
  }
  return people.map(({ userId, name, channels, isOnCall, memberId, refusal }) => ({
    value: userId,
    name,
    label: `${isolateBidi(name)}${userId === ownUserId ? ' (you)' : ''}${isOnCall ? ', on call now' : ''}${refusal === null ? '' : ', nothing reaches them'}`,
    channels,
    refusal,
    memberId,
  }));
}

function aboutPolicy(status: IncidentWithLog['status']): string {
  const again = status === 'acknowledged' ? ' It waits for somebody to acknowledge it again.' : '';
  return `Its first step fires now, in place of the steps that are left.${again}`;
}

function aboutPerson({ status, escalation: { steps } }: IncidentWithLog, person: Assignee | null): string {
  const by =
    person?.channels == null ? '' : `, by ${person.channels.map((c) => CHANNEL_DECLARATIONS[c].name).join(', ')}`;
  const who = person === null ? 'The person' : isolateBidi(person.name);
  const left = steps.filter(({ state, reason }) =>
    status === 'acknowledged' ? state === 'cancelled' && reason === 'acknowledged' : state === 'pending',
  ).length;
  const follows =
    left === 0 ? 'No other step follows.' : 'If nobody acknowledges, the steps that are left follow as planned.';
  return `${who} is paged now${by}. ${follows}`;
}
