import { detailText } from '#modules/alerts/decide/route.ts';
import { matchesWildcard } from '#modules/search/decide/search_kinds.ts';
import type { Workloads } from '#test/kit/counting/count_work.ts';

const nested = (levels: number): Record<string, unknown> =>
  Array.from({ length: levels }).reduce<Record<string, unknown>>((inner) => ({ a: inner }), {});

export default {
  'a text that nearly matches everywhere': (length) => {
    const [text, pattern] = ['a'.repeat(length), `*${'a'.repeat(length / 2)}b`];
    return () => matchesWildcard(text, pattern);
  },
  'a part in the middle that nearly matches everywhere': (length) => {
    const [text, pattern] = ['a'.repeat(length), `*${'a'.repeat(length / 2)}b*`];
    return () => matchesWildcard(text, pattern);
  },
  'a part that begins again within itself': (length) => {
    const [text, pattern] = ['aab'.repeat(length / 2), `*${'aab'.repeat(length / 4)}aac*`];
    return () => matchesWildcard(text, pattern);
  },
  'many parts': (length) => {
    const [text, pattern] = ['ab'.repeat(length), '*a'.repeat(length / 2)];
    return () => matchesWildcard(text, pattern);
  },
  'a path of many names': (names) => {
    const [details, path] = [nested(names), `${'a.'.repeat(names - 1)}b`];
    return () => detailText(details, path);
  },
} satisfies Workloads;
