import type { InboundFilter } from '#core/exceptions/inbound_filters.ts';

/** What the filters of a service leave out. */
export const FILTER_NAMES: Readonly<Record<InboundFilter, string>> = {
  bots: 'Robots and crawlers',
  browser_extensions: 'Browser extensions',
  legacy_browsers: 'Browsers that nobody maintains any more',
};
