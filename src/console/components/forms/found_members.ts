import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';

import { type Member, membersQuery } from '#console/api/organization.ts';
import { useOrganization } from '#console/shell/organization.tsx';

/** Pause in typing, in milliseconds, after which the server is asked. */
const DEBOUNCE_MS = 150;
/** Members that are shown at once; there may be others. */
const FOUND_MAX = 20;

interface FoundMembers {
  readonly members: readonly Member[];
  /** Number of others that match. */
  readonly further: number;
}

/**
 * Returns members whose name or mail address matches the typed text. The server searches; until it has answered, the
 * previous results are filtered, so that nobody is offered whom the text does not match.
 */
export function useFoundMembers(typed: string, isWanted = true): FoundMembers {
  const { orgId } = useOrganization().org;
  const wanted = typed.trim();
  const [text] = useDebouncedValue(wanted, DEBOUNCE_MS);
  const { data, isPlaceholderData } = useQuery({
    ...membersQuery(orgId, { ...(text !== '' && { text }), limit: FOUND_MAX }),
    placeholderData: keepPreviousData,
    enabled: isWanted,
  });
  const matches = data?.members ?? [];
  const members = text === wanted && !isPlaceholderData ? matches : matches.filter((member) => isMeant(member, wanted));
  return { members, further: Math.max(0, (data?.total ?? 0) - matches.length) };
}

/** Whether a member matches the text, as on the server: the domain of mail addresses, which many share, is ignored. */
function isMeant({ name, email }: Member, text: string): boolean {
  const wanted = text.toLowerCase();
  const [local = ''] = email.toLowerCase().split('@');
  return `${name.toLowerCase()} ${local}`.includes(wanted) || email.toLowerCase().startsWith(wanted);
}
