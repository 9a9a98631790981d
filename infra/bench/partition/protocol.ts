/** Names on which the part in the namespace and the part with the stores agree. */
export const STORES = ['PostgreSQL', 'Redis', 'ClickHouse'] as const;
export type StoreName = (typeof STORES)[number];

/** Stores that are cut off in this run, one after the other. */
export const CUT_STORES = STORES.filter((store) =>
  (process.env['BENCH_PARTITION'] ?? store).split(',').includes(store),
);

/** Asks for the link to a store to be cut, or joined again; the answer is `{ done: true }`. */
export interface CutRequest {
  readonly store: StoreName;
  readonly isCut: boolean;
}

export const CUT_MS = 20_000;
export const SEND_EVERY_MS = 50;
