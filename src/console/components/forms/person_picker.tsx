import { type ReactNode, useState } from 'react';

import type { Member } from '#console/api/organization.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { Choice } from '#console/components/forms/choice.tsx';
import { dutyLabel } from '#console/components/text/role.ts';
import { useFoundMembers } from '#console/components/forms/found_members.ts';
import { useNamesOf } from '#console/components/text/use_names_of.ts';

interface PersonPickerProps {
  readonly value: string | null;
  readonly onChange: (userId: string | null) => void;
  /** Label above the field, unless `isLabelHidden`. */
  readonly label: string;
  readonly isLabelHidden?: boolean;
  readonly placeholder: string;
  /** Ids of people who cannot be chosen. */
  readonly leftOut?: readonly string[];
  /** Options before the people. */
  readonly before?: readonly { readonly value: string; readonly label: string }[];
  /** Whether to show mail addresses, which tell people with the same name apart. */
  readonly hasMail?: boolean;
  /** Whether to note people whose role cannot answer a page: whoever is chosen is put on call. */
  readonly isForDuty?: boolean;
  readonly clearLabel?: string;
  readonly error?: ReactNode;
  readonly nothingFound?: string;
  readonly isFocused?: boolean;
}

/** Picker of one of any number of members. The server searches for what is typed. */
export function PersonPicker(props: PersonPickerProps) {
  const { value, onChange, label, isLabelHidden = false, placeholder, leftOut = [], before = [], error } = props;
  const {
    hasMail = false,
    isForDuty = false,
    clearLabel,
    nothingFound = 'Nobody has this name',
    isFocused = false,
  } = props;
  const [isNear, setIsNear] = useState(false);
  const [typed, setTyped] = useState('');
  const isOther = value === null || before.some((choice) => choice.value === value);
  const [picked, setPicked] = useState<Member | null>(null);
  const names = useNamesOf(isOther ? [] : [value]);
  // The name of the person just picked is shown at once.
  const name = picked?.userId === value ? picked?.name : isOther ? undefined : names.nameOf(value);
  const unknown = names.isLoading ? '…' : 'Somebody who has left';
  const selected = isOther ? undefined : { value, label: name === undefined ? unknown : isolateBidi(name) };
  const { members: matches, further } = useFoundMembers(typed, isNear);
  const people = matches
    .filter(({ userId }) => !leftOut.includes(userId) && userId !== value)
    .map((person) => ({
      value: person.userId,
      label: isForDuty
        ? dutyLabel(person.name, person.role)
        : isolateBidi(hasMail ? `${person.name} (${person.email})` : person.name),
    }));
  const others = before.filter((choice) => choice.label.toLowerCase().includes(typed.toLowerCase()));
  return (
    <Choice
      label={label}
      isLabelHidden={isLabelHidden}
      placeholder={placeholder}
      error={error}
      options={[...others, ...(selected === undefined ? [] : [selected]), ...people]}
      further={further}
      value={value}
      onChange={(userId) => {
        setPicked(matches.find((member) => member.userId === userId) ?? null);
        onChange(userId);
      }}
      onSearch={setTyped}
      onNear={() => setIsNear(true)}
      opensOnFocus={false}
      emptyText={nothingFound}
      {...(clearLabel !== undefined && { clearLabel })}
      {...(isFocused && { 'data-autofocus': true })}
    />
  );
}
