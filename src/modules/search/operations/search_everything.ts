import { type Static, Type } from 'typebox';

import { defineOperation } from '#actions/action_context.ts';
import { nullable, StrictObject } from '#actions/fields.ts';
import { SEARCH_LENGTH_MAX } from '#modules/pages/decide/limits.ts';
import {
  byRelevance,
  FOUND_PER_KIND,
  FOUND_TOTAL_MAX,
  SEARCH_KINDS,
  type SearchKind,
  visibleKinds,
  wordsOf,
} from '#modules/search/decide/search_kinds.ts';

const KINDS = Object.keys(SEARCH_KINDS) as SearchKind[];

const FoundView = Type.Object({
  kind: Type.Enum(KINDS),
  items: Type.Array(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      detail: nullable(Type.String({ description: 'tells it from others of its name: its service, team or address' })),
    }),
    { description: `at most ${FOUND_PER_KIND}, those that begin with the text first` },
  ),
  total: Type.Integer({
    description: `counted up to ${FOUND_TOTAL_MAX}; of incidents and exceptions, among the newest 5,000`,
  }),
});

export const searchEverything = defineOperation({
  name: 'search_everything',
  summary:
    'Find incidents, services, people, teams, schedules, policies, rules, exceptions and dashboards by the words of ' +
    'their names: a few of each kind that the caller may see, and how many there are.',
  permission: 'organization:view',
  effect: 'read',
  input: StrictObject({
    text: Type.String({ minLength: 1, maxLength: SEARCH_LENGTH_MAX, description: 'words that all occur' }),
  }),
  result: Type.Object({
    found: Type.Array(FoundView, { description: 'the kind of the best name first; kinds without a result are absent' }),
  }),
  example: { text: 'checkout' },
  async handle({ text }, { caller, stores, now }) {
    const kinds = visibleKinds(caller.permissions);
    const things = await stores.search.find(caller.orgId, kinds, wordsOf(text), now);
    const byKind = Map.groupBy(things, ({ kind }) => kind);
    const results = kinds.flatMap((kind): Static<typeof FoundView>[] => {
      const items = byKind.get(kind) ?? [];
      const [first] = items;
      if (first === undefined) return [];
      return [{ kind, items: items.map(({ id, name, detail }) => ({ id, name, detail })), total: first.total }];
    });
    return { found: byRelevance(results, text) };
  },
});
