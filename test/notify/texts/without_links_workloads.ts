import { withoutLinks } from '#notify/texts/without_links.ts';
import type { Workloads } from '#test/kit/counting/count_work.ts';

/** Beginnings of hosts and schemes that never become one, or become one after another. */
const UNITS = ['a', 'a-', 'a.', '1.1.', 'www.', 'a:', 'a://', 'a(.)', 'x.com ', 'mailto:', '\u3002', '_'];

export default Object.fromEntries(
  UNITS.map((unit) => [
    unit,
    (size) => {
      const text = unit.repeat(Math.floor(size / unit.length));
      return () => withoutLinks(text);
    },
  ]),
) satisfies Workloads;
