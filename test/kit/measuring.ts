/**
 * Files that still measure time or memory. They are no part of `npm test`: a busy machine would fail them by chance.
 * `npm run check:measured` runs them one after another.
 */
export const MEASURING_FILES: readonly string[] = [
  'test/entry/http/ingest_hostile_bodies.test.ts',
  'test/journeys/many_incidents.test.ts',
  'test/kernel/known_texts.test.ts',
  'test/modules/configuration/large_file.test.ts',
  'test/storage/queue/busy_poller.test.ts',
];
