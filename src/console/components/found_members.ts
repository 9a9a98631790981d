import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';

import { type Member, membersQuery } from '#console/api/organization.ts';
import { useOrganization } from '#console/shell/organization.tsx';

/** Waits until typing pauses before it asks the server. */
const DEBOUNCE_MS = 150;
/** Members that are shown at once; there may be others. */
export const FOUND_MAX = 20;

/**
 * Members whose name or mail address is meant by what is typed. The server searches; until it has answered, those that were
 * found before are narrowed, so that nobody is offered whom the text does not mean.
 */
export function useFoundMembers(typed: string, isWanted = true): readonly Member[] {
  const { orgId } = useOrganization().org;
  const wanted = typed.trim();
  const [text] = useDebouncedValue(wanted, DEBOUNCE_MS);
  const { data, isPlaceholderData } = useQuery({
    ...membersQuery(orgId, { ...(text !== '' && { text }), limit: FOUND_MAX }),
    placeholderData: keepPreviousData,
    enabled: isWanted,
  });
  const found = data?.members ?? [];
  return text === wanted && !isPlaceholderData ? found : found.filter((member) => isMeant(member, wanted));
}

/** As the server compares: the domain of mail addresses, which many share, means nobody. */
function isMeant({ name, email }: Member, text: string): boolean {
  const wanted = text.toLowerCase();
  const [local = ''] = email.toLowerCase().split('@');
  return `${name.toLowerCase()} ${local}`.includes(wanted) || email.toLowerCase().startsWith(wanted);
}
