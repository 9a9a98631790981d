import { NativeSelect, Radio, SimpleGrid, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import { serverNow } from '#console/api/http.ts';
import { membersQuery } from '#console/api/organization.ts';
import { DraftNotice } from '#console/components/forms/draft_notice.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { faultsAtFields, Form, SubmitButtons } from '#console/components/forms/form.tsx';
import { PersonPicker } from '#console/components/forms/person_picker.tsx';
import { useDraftState } from '#console/components/forms/use_draft.ts';
import { onCallLabel } from '#console/components/text/role.ts';
import { useNamesOf } from '#console/components/text/use_names_of.ts';
import { Person } from '#console/components/text/person_dot.tsx';
import { TimeField } from '#console/components/forms/time_field.tsx';
import { readOrKeep, toLocalField } from '#console/pages/oncall/local_time.ts';
import { layersOf } from '#console/pages/oncall/layers/layers_draft.ts';
import classes from '#console/pages/oncall/override/override_form.module.css';
import { usePutOnCall } from '#console/pages/oncall/override/use_put_on_call.ts';
import type { Selection, ShownSchedule } from '#console/pages/oncall/use_timeline.ts';
import { useOrganization } from '#console/shell/organization.tsx';

interface OverrideFormProps {
  readonly selection: Selection;
  readonly schedule: ShownSchedule;
  readonly nameOf: (userId: string | null) => string;
  readonly onDone: () => void;
}

/** Most people offered at once; others of the rotation are found by their name. */
const CLOSE_PEOPLE_MAX = 6;
const DAY_MS = 24 * 60 * 60_000;

/** Values entered; null keeps that of the chosen shift. */
interface Entered {
  readonly userId: string | null;
  readonly from: string | null;
  readonly to: string | null;
  /** Layer for which it counts; null: the whole schedule. */
  readonly layerId: string | null;
}

const NOTHING: Entered = { userId: null, from: null, to: null, layerId: null };
const LABELS = { userId: 'Who is on call', from: 'From', to: 'Until', layerId: 'For' };

/** Form that puts somebody on call for the shift or for a part of it. */
export function OverrideForm({ selection, schedule, nameOf, onDone }: OverrideFormProps) {
  const { org, session } = useOrganization();
  const [start] = useState(() => Math.max(selection.since, serverNow()));
  const end = selection.until ?? start + DAY_MS;
  const [values, setValues, draft] = useDraftState<Entered>({
    form: `create_schedule_override ${schedule.scheduleId} ${selection.since}`,
    base: NOTHING,
  });
  const { userId } = values;
  const close = closePeople(schedule, selection.userId);
  const members = useQuery(membersQuery(org.orgId, { userIds: [...close] })).data?.members;
  const names = useNamesOf([...close, ...(userId === null ? [] : [userId])]);
  const memberName = (id: string) => names.nameOf(id) ?? nameOf(id);
  const labelOf = (id: string): string => {
    const member = members?.find(({ userId: candidate }) => candidate === id);
    return member === undefined ? memberName(id) : onCallLabel(member);
  };
  const from = values.from ?? toLocalField(start);
  const to = values.to ?? toLocalField(end);
  const setUserId = (id: string | null): void => setValues({ ...values, userId: id });
  const [isChecked, setIsChecked] = useState(false);
  const putting = usePutOnCall(
    schedule,
    () => {
      draft.done();
      onDone();
    },
    memberName,
  );

  const startAt = readOrKeep(from, start);
  const endAt = readOrKeep(to, end);
  const refused = faultsAtFields(putting.error, { userId, startAt, endAt });
  const faults = {
    userId: isChecked && userId === null ? 'Choose who is on call then.' : refused['userId'],
    from: startAt === null ? 'Enter a day and a time.' : refused['startAt'],
    to:
      endAt === null
        ? 'Enter a day and a time.'
        : startAt !== null && endAt <= startAt
          ? 'The end must be after the start.'
          : refused['endAt'],
  };
  const submit = (): void => {
    setIsChecked(true);
    if (userId === null || startAt === null || endAt === null || endAt <= startAt) return;
    const window = { startAt: new Date(startAt).toISOString(), endAt: new Date(endAt).toISOString() };
    putting.mutate({ userId, ...window, ...(values.layerId !== null && { layerId: values.layerId }) });
  };
  return (
    <Form error={putting.error} draft={draft} onSubmit={() => submit()}>
      <Stack gap="sm">
        <DraftNotice draft={draft} labels={LABELS} />
        <Radio.Group
          label="Put on call instead"
          value={userId !== null && close.includes(userId) ? userId : null}
          onChange={setUserId}
          error={faults.userId}
        >
          <div className={classes.people}>
            {close.map((id, index) => (
              <Radio
                key={id}
                value={id}
                data-autofocus={index === 0 ? true : undefined}
                aria-invalid={faults.userId === undefined ? undefined : true}
                label={<Person userId={id}>{id === session.user.userId ? 'You' : labelOf(id)}</Person>}
                className={`${classes.person} row shrinks`}
              />
            ))}
          </div>
        </Radio.Group>
        <PersonPicker
          label="Somebody else"
          isLabelHidden
          placeholder="Somebody else"
          isForOnCall
          leftOut={selection.userId === null ? close : [...close, selection.userId]}
          value={userId === null || close.includes(userId) ? null : userId}
          onChange={setUserId}
        />
        <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm">
          <TimeField
            label="From"
            value={from}
            onChange={(value) => setValues({ ...values, from: value })}
            error={faults.from}
          />
          <TimeField
            label="Until"
            value={to}
            onChange={(value) => setValues({ ...values, to: value })}
            error={faults.to}
          />
        </SimpleGrid>
        {schedule.layers !== undefined && schedule.layers.length > 1 && (
          <NativeSelect
            label="For"
            description="For one layer, it counts within the hours of that layer."
            value={values.layerId ?? ''}
            onChange={({ currentTarget: { value } }) => setValues({ ...values, layerId: value === '' ? null : value })}
            data={[
              { value: '', label: 'The whole schedule' },
              ...schedule.layers.map(({ layerId, name }) => ({ value: layerId, label: name })),
            ]}
          />
        )}
        {putting.isError && (
          <ErrorAlert title="Nothing was changed" error={putting.error} atFields={{ userId, startAt, endAt }} />
        )}
        <SubmitButtons label="Put on call" isPending={putting.isPending} onCancel={onDone} />
      </Stack>
    </Form>
  );
}

/** Returns the people of the layers, without the person on call at that time. */
function closePeople(schedule: ShownSchedule, onCall: string | null): readonly string[] {
  const people = layersOf(schedule).flatMap(({ turns }) => turns.flatMap(({ userIds }) => userIds));
  return [...new Set(people)].filter((id) => id !== onCall).slice(0, CLOSE_PEOPLE_MAX);
}
