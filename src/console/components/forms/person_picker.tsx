import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';

import { invitationsQuery, type Member, membersQuery } from '#console/api/organization.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { Choice } from '#console/components/forms/choice.tsx';
import type { Option } from '#console/components/forms/option_list.tsx';
import { onCallLabel } from '#console/components/text/role.ts';
import { useNamesOf } from '#console/components/text/use_names_of.ts';
import { useDebounced } from '#console/components/use_debounced.ts';
import { useOrganization } from '#console/shell/organization.tsx';

/** Members that are shown at once; there may be others. */
const FOUND_MAX = 20;
const INVITED_MAX = 5;

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
  readonly isForOnCall?: boolean;
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
    isForOnCall = false,
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
  const reached = isForOnCall && !isOther && names.isUnreached(value) ? ', nothing reaches them' : '';
  const selected = isOther ? undefined : { value, label: name === undefined ? unknown : isolateBidi(name) + reached };
  const { members: matches, invited, further } = useFoundMembers(typed, isNear);
  const people = matches
    .filter(({ userId }) => !leftOut.includes(userId) && userId !== value)
    .map((person) => ({
      value: person.userId,
      label: isForOnCall
        ? onCallLabel(person)
        : isolateBidi(hasMail ? `${person.name} (${person.email})` : person.name),
    }));
  const others = before.filter((choice) => choice.label.toLowerCase().includes(typed.toLowerCase()));
  return (
    <Choice
      label={label}
      isLabelHidden={isLabelHidden}
      placeholder={placeholder}
      error={error}
      options={[...others, ...(selected === undefined ? [] : [selected]), ...people, ...invited]}
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

interface FoundMembers {
  readonly members: readonly Member[];
  /** Options that cannot be chosen, of people who were invited and have not accepted, for those who may see them. */
  readonly invited: readonly Option[];
  /** Number of others that match. */
  readonly further: number;
}

/**
 * Returns members whose name or mail address matches the typed text. The server searches; until it has answered, the
 * previous results are filtered, so that nobody is offered whom the text does not match.
 */
export function useFoundMembers(typed: string, isWanted = true): FoundMembers {
  const { org, isAdmin } = useOrganization();
  const { orgId } = org;
  const wanted = typed.trim();
  const text = useDebounced(wanted);
  const { data, isPlaceholderData } = useQuery({
    ...membersQuery(orgId, { ...(text !== '' && { text }), limit: FOUND_MAX }),
    placeholderData: keepPreviousData,
    enabled: isWanted,
  });
  const invitations = useInfiniteQuery({ ...invitationsQuery(orgId), enabled: isAdmin && isWanted }).data;
  const invited = (invitations?.pages ?? [])
    .flatMap((page) => page.invitations)
    .filter(({ status, email }) => status === 'pending' && email.toLowerCase().includes(wanted.toLowerCase()))
    .slice(0, INVITED_MAX)
    .map(({ invitationId, email }) => ({
      value: invitationId,
      label: `${email}: invited, can be chosen after accepting`,
      isDisabled: true,
    }));
  const matches = data?.members ?? [];
  const members = text === wanted && !isPlaceholderData ? matches : matches.filter((member) => isMeant(member, wanted));
  return { members, invited, further: Math.max(0, (data?.total ?? 0) - matches.length) };
}

/** Whether a member matches the text, as on the server: the domain of mail addresses, which many share, is ignored. */
function isMeant({ name, email }: Member, text: string): boolean {
  const wanted = text.toLowerCase();
  const [local = ''] = email.toLowerCase().split('@');
  return `${name.toLowerCase()} ${local}`.includes(wanted) || email.toLowerCase().startsWith(wanted);
}
