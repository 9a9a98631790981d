import type { InboundFilter } from '#modules/exceptions/decide/inbound_filters.ts';

/** Names of the filters, by what they leave out. */
export const FILTER_NAMES: Readonly<Record<InboundFilter, string>> = {
  bots: 'Robots and crawlers',
  browser_extensions: 'Browser extensions',
  legacy_browsers: 'Browsers that nobody maintains any more',
};
