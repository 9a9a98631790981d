import { type InfiniteData, type Query, type QueryClient, queryOptions } from '@tanstack/react-query';

import {
  actionQuery,
  type InputOf,
  invoke,
  pagedQuery,
  type ResultOf,
  type Rule,
  topicKey,
  updateRows,
} from '#console/api/actions.ts';
import { RULE_STATES } from '#modules/rules/decide/rule_kind.ts';

export type RuleSearch = Omit<InputOf<'search_rules'>, 'cursor' | 'ruleIds' | 'incidentIds'>;

const searchKey = (orgId: string) => [...topicKey(orgId, 'rules'), 'search_rules'] as const;
const ruleKey = (orgId: string) => [...topicKey(orgId, 'rules'), 'rule'] as const;

export const ruleSearchQuery = (orgId: string, search: RuleSearch = {}) =>
  pagedQuery(orgId, 'rules', 'search_rules', search);

/** Query of one rule; null if there is none with this id. */
export const ruleQuery = (orgId: string, ruleId: string) =>
  queryOptions({
    queryKey: [...ruleKey(orgId), ruleId],
    queryFn: async ({ signal }) => {
      const { rules } = await invoke(orgId, 'search_rules', { ruleIds: [ruleId], limit: 1 }, signal);
      return rules[0] ?? null;
    },
  });

type RulePages = InfiniteData<ResultOf<'search_rules'>, string | null>;

/**
 * Updates the cached data after these rules have changed, or opened or closed these incidents. Lists on the screen
 * fetch only these rows; other lists are loaded when they are shown again.
 */
export async function refreshRules(
  queryClient: QueryClient,
  orgId: string,
  changed: { readonly ruleIds: string[] } | { readonly incidentIds: string[] },
): Promise<void> {
  const cache = queryClient.getQueryCache();
  const lists = cache.findAll({ queryKey: searchKey(orgId) });
  const isChanged = ({ queryKey }: Query): boolean =>
    'incidentIds' in changed || changed.ruleIds.some((id) => id === queryKey[ruleKey(orgId).length]);
  const others = queryClient.invalidateQueries({
    queryKey: topicKey(orgId, 'rules'),
    predicate: ({ queryKey }) => queryKey[3] !== 'search_rules' && queryKey[3] !== 'rule',
    refetchType: 'none',
  });
  await Promise.all([
    others,
    queryClient.invalidateQueries({ queryKey: ruleKey(orgId), predicate: isChanged }),
    ...lists.map(async (list) => {
      const search = list.queryKey[searchKey(orgId).length] as RuleSearch;
      await updateRows<RulePages, ResultOf<'search_rules'>>(
        queryClient,
        list,
        () => invoke(orgId, 'search_rules', { ...search, ...changed, limit: 200 }),
        (pages, answer) => withRules(pages, changed, answer),
      );
    }),
  ]);
}

/** Moves changed rows to their new positions; rows beyond the last page are loaded with the next. */
function withRules(
  data: RulePages,
  changed: { readonly ruleIds: string[] } | { readonly incidentIds: string[] },
  { rules: found, counts }: ResultOf<'search_rules'>,
): RulePages {
  const isNew = new Set(found.map(({ ruleId }) => ruleId));
  const isGone = new Set('ruleIds' in changed ? changed.ruleIds : []);
  const kept = data.pages
    .flatMap(({ rules }) => rules)
    .filter(({ ruleId }) => !isNew.has(ruleId) && !isGone.has(ruleId));
  const sorted = [...kept, ...found].toSorted(inOrder);
  const { nextCursor = null } = data.pages.at(-1) ?? {};
  const lastKept = kept.at(-1);
  const rules =
    nextCursor === null || lastKept === undefined ? sorted : sorted.filter((rule) => inOrder(rule, lastKept) <= 0);
  return { pages: [{ rules, nextCursor, counts }], pageParams: [data.pageParams[0] ?? null] };
}

/** Compares rules in the order of the server. */
function inOrder(a: Rule, b: Rule): number {
  const byState = RULE_STATES.indexOf(a.state) - RULE_STATES.indexOf(b.state);
  if (byState !== 0) return byState;
  const [first, second] = [a.name.toLowerCase(), b.name.toLowerCase()];
  if (first !== second) return first < second ? -1 : 1;
  return a.ruleId < b.ruleId ? -1 : 1;
}

/** Query of the maintenance windows of a service or a rule, or of all if none is named. */
export const maintenanceQuery = (orgId: string, of: InputOf<'list_maintenance'> = {}) =>
  actionQuery(orgId, 'rules', 'list_maintenance', of);
